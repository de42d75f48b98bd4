"use strict";
const byId = id => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const reasons = JSON.parse(byId("reasons").textContent);
const states = {e: "error", w: "warning", i: "info", s: "silenced", u: "not decidable", m: "met", n: "no finding", a: "not applicable", o: "not asked"};
const matrix = document.querySelector(".matrix"), tip = byId("tip"), detail = byId("detail");
const heads = all(".names th", matrix).slice(1), codes = heads.map(head => head.dataset.code);
const families = codes.map(code => code.slice(0, 4));
const rows = all("tbody tr[data-m]", matrix), cells = rows.map(row => all("td", row));

function make(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
const nameOf = row => row.querySelector("th a").textContent;
const stateOf = cell => [...cell.classList].find(name => name in states);
const idsOf = cell => cell.dataset.f ? cell.dataset.f.split(" ") : [];
const wordsOf = cell => idsOf(cell).length > 1 ? `${idsOf(cell).length} findings, ${states[stateOf(cell)]}` : states[stateOf(cell)];

/* Where a cell stands, for the keyboard and for who cannot see its colour. One cell of a table can be reached by Tab. */
const visible = element => element.offsetParent !== null;
const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
for (const cell of cells.flat()) cell.setAttribute("aria-label", wordsOf(cell));
for (const table of all(".matrix, .subjects")) {
  const grid = all("tbody tr[data-m]", table).map(row => all("td", row));
  let current = grid.length && grid[0][0];
  for (const cell of grid.flat()) { cell.tabIndex = cell === current ? 0 : -1; }
  for (const link of all("td a", table)) link.tabIndex = -1;
  table.addEventListener("focusin", event => {
    const cell = event.target.closest("[data-m] td");
    if (!cell) return;
    current.tabIndex = -1;
    current = cell;
    cell.tabIndex = 0;
  });
  table.addEventListener("keydown", event => {
    const cell = event.target.closest("[data-m] td");
    if (!cell) return;
    const [dx, dy] = moves[event.key] ?? [0, 0], row = grid.find(some => some.includes(cell));
    let y = grid.indexOf(row), x = row.indexOf(cell), next = null;
    if (event.key === "Enter" || event.key === " ") open(cell);
    else if (event.key === "Home") next = row.find(visible);
    else if (event.key === "End") next = row.filter(visible).pop();
    else if (event.key in moves) {
      do { x += dx; y += dy; next = grid[y]?.[x]; } while (next && !visible(next));
    } else return;
    event.preventDefault();
    if (next) { next.focus({preventScroll: true}); next.scrollIntoView({block: "nearest", inline: "nearest"}); }
  });
}

/* What is said of a cell beside the pointer. */
const ruleOf = code => byId("c-" + code).dataset;
function columnOf(cell) { return codes[cells[rows.indexOf(cell.parentNode)].indexOf(cell)]; }
function messages(ids, most) {
  const found = [];
  for (const id of ids.slice(0, most)) {
    const message = document.querySelector(`#f${id} > p:not(.where)`);
    found.push(message.cloneNode(true));
  }
  if (ids.length > most) found.push(make("p", `and ${ids.length - most} more`, "quiet"));
  return found;
}
function line(kind, text) {
  const made = make("p", undefined, "state"), swatch = make("span", document.querySelector(`.legend .swatch.${kind}`)?.textContent ?? "", `swatch ${kind}`);
  made.append(swatch, " ", text);
  return made;
}
function show(cell) {
  const parts = [], row = cell.closest("tr");
  if (cell.closest(".matrix")) {
    const code = columnOf(cell), reason = cell.dataset.r;
    parts.push(make("b", `${code} ${ruleOf(code).name}`), make("div", nameOf(row), "quiet"));
    parts.push(line(stateOf(cell), wordsOf(cell) + (reason === undefined ? "" : `: ${reasons[reason]}`)));
    if (idsOf(cell).length) parts.push(...messages(idsOf(cell), 3));
    else parts.push(make("p", byId("c-" + code).cells[1].textContent, "quiet"));
  } else {
    const head = document.querySelector(`.subjects thead [data-family="${cell.dataset.family}"]`);
    parts.push(make("b", head.title), make("div", nameOf(row), "quiet"), make("p", cell.dataset.about));
    parts.push(...messages(inFamily(row.dataset.m, cell.dataset.family), 2));
  }
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const at = cell.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const below = at.bottom + 8 + size.height < innerHeight || at.top < size.height + 8;
  tip.style.top = `${below ? at.bottom + 8 : at.top - size.height - 8}px`;
  tip.style.left = `${Math.max(8, Math.min(at.left - 12, innerWidth - size.width - 8))}px`;
  if (cell.closest(".matrix")) light(columnOf(cell));
}
function light(code) { heads.forEach(head => head.classList.toggle("lit", head.dataset.code === code)); }
function hide() { tip.hidden = true; light(null); }
const cellAt = event => event.target.closest("[data-m] td:is(.matrix td, .subjects td)");
document.addEventListener("pointerover", event => {
  if (event.pointerType === "touch") return;
  const cell = cellAt(event);
  if (cell) show(cell); else hide();
});
document.addEventListener("focusin", event => { const cell = cellAt(event); if (cell && cell.matches(":focus-visible")) show(cell); else hide(); });
document.addEventListener("scroll", hide, {capture: true, passive: true});

/* The findings behind a cell, a class or a contract. */
function inFamily(number, family) {
  const at = rows.findIndex(row => row.dataset.m === number);
  return cells[at].flatMap((cell, x) => families[x] === family ? idsOf(cell) : []);
}
function about(code) {
  const rule = ruleOf(code), link = make("a", `About ${code}`);
  link.href = rule.url;
  const text = make("p", undefined, "note");
  text.append(...byId("c-" + code).cells[1].cloneNode(true).childNodes, " ", link);
  return text;
}
function copies(ids) {
  return ids.map(id => {
    const copy = byId("f" + id).cloneNode(true), link = make("a", "Link to this finding", "by");
    copy.removeAttribute("id");
    link.href = "#f" + id;
    copy.append(link);
    return copy;
  });
}
function dialog(title, parts) {
  hide();
  byId("detail-title").textContent = title;
  detail.lastElementChild.replaceChildren(...parts);
  detail.showModal();
  detail.scrollTop = 0;
}
function grouped(pairs) {
  const parts = [];
  for (const [code, ids] of pairs) {
    parts.push(make("h3", `${code} ${ruleOf(code).name}`), about(code), ...copies(ids));
  }
  return parts;
}
function open(cell) {
  const row = cell.closest("tr");
  if (cell.closest(".matrix")) {
    const code = columnOf(cell), reason = cell.dataset.r, parts = [];
    parts.push(make("div", nameOf(row)), line(stateOf(cell), wordsOf(cell) + (reason === undefined ? "" : `: ${reasons[reason]}`)), about(code));
    dialog(`${code} ${ruleOf(code).name}`, [...parts, ...copies(idsOf(cell))]);
    return;
  }
  const at = rows.findIndex(one => one.dataset.m === row.dataset.m), family = cell.dataset.family;
  const parts = [make("div", nameOf(row)), make("p", cell.dataset.about, "note")], list = make("ul");
  const found = [];
  cells[at].forEach((one, x) => {
    if (families[x] !== family) return;
    if (idsOf(one).length) { found.push([codes[x], idsOf(one)]); return; }
    const item = make("li", `${codes[x]} ${ruleOf(codes[x]).name}: ${wordsOf(one)}`);
    if (one.dataset.r !== undefined) item.append(make("span", `, ${reasons[one.dataset.r]}`, "quiet"));
    list.append(item);
  });
  parts.push(...grouped(found));
  if (list.children.length) parts.push(make("h3", found.length ? "The other contracts" : "Contracts"), list);
  dialog(document.querySelector(`.subjects thead [data-family="${family}"]`).title, parts);
}
function openClass(number) {
  const at = rows.findIndex(row => row.dataset.m === number);
  const pairs = cells[at].map((cell, x) => [codes[x], idsOf(cell)]).filter(([, ids]) => ids.length);
  const counts = {};
  for (const cell of cells[at]) counts[states[stateOf(cell)]] = (counts[states[stateOf(cell)]] ?? 0) + 1;
  const note = make("p", Object.values(states).filter(word => counts[word]).map(word => `${counts[word]} ${word}`).join(", "), "note");
  dialog(nameOf(rows[at]), [note, ...grouped(pairs)]);
}
function openContract(code) {
  const group = byId("g-" + code);
  const ids = group ? all("article", group).map(article => article.id.slice(1)) : [];
  dialog(`${code} ${ruleOf(code).name}`, [about(code), ...(ids.length ? copies(ids) : [make("p", "There is no finding.")])]);
}
document.addEventListener("click", event => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const cell = cellAt(event);
  if (cell) { event.preventDefault(); cell.focus(); open(cell); return; }
  const name = event.target.closest("#matrix [data-m] th a"), head = event.target.closest(".names th a");
  if (name) { event.preventDefault(); openClass(name.closest("tr").dataset.m); }
  if (head) { event.preventDefault(); openContract(head.parentNode.dataset.code); }
  const link = event.target.closest("dialog a[href^='#']");
  if (link) detail.close();
  if (event.target === detail) detail.close();
});
function reveal() {
  const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  const fold = target && target.closest("details");
  if (fold) { fold.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", reveal);
reveal();

/* Filters. */
document.querySelector(".tools").hidden = false;
const query = byId("q"), models = byId("models"), contracts = byId("contracts"), only = byId("only"), shown = byId("shown");
const severities = all(".severity"), texts = rows.map(row => byId("m" + row.dataset.m).dataset.words);
const kinds = rows.map(row => byId("m" + row.dataset.m).dataset.family);
const articles = all("article.finding");
function apply() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean), family = contracts.value;
  const wanted = new Set(severities.filter(box => box.checked).map(box => box.value));
  const numbers = new Set();
  const isLeft = cell => !"ewis".includes(stateOf(cell)) || wanted.has(stateOf(cell));
  rows.forEach((row, y) => {
    const fits = words.every(word => texts[y].includes(word)) && (!models.value || kinds[y] === models.value);
    const has = !only.checked || cells[y].some((cell, x) => idsOf(cell).length && isLeft(cell) && (!family || families[x] === family));
    if (fits && has) numbers.add(row.dataset.m);
    cells[y].forEach((cell, x) => {
      cell.hidden = Boolean(family) && families[x] !== family;
      cell.classList.toggle("dim", !isLeft(cell));
    });
  });
  heads.forEach((head, x) => { head.hidden = Boolean(family) && families[x] !== family; });
  for (const head of all("[data-family]:is(.matrix thead th, .subjects th, .subjects td, .contracts tbody)")) head.hidden = Boolean(family) && head.dataset.family !== family;
  for (const chip of all(".subjects .chip")) chip.classList.toggle("dim", "ewis".includes(chip.classList[1]) && !wanted.has(chip.classList[1]));
  for (const row of all("tr[data-m]")) row.hidden = !numbers.has(row.dataset.m);
  for (const head of all("tr.family")) head.hidden = !head.parentNode.querySelector("[data-m]:not([hidden])");
  const everything = numbers.size === rows.length;
  for (const article of articles) {
    const concerned = article.dataset.m.split(" ").filter(Boolean);
    const here = everything || concerned.some(number => numbers.has(number));
    article.hidden = !here || !wanted.has(article.classList[1]);
  }
  for (const group of all(".group")) {
    group.hidden = (family && group.dataset.family !== family) || !group.querySelector("article:not([hidden])");
  }
  const filtered = !everything || family || wanted.size < severities.length;
  shown.textContent = filtered ? `${numbers.size} of ${rows.length} classes, ${articles.filter(a => !a.hidden && !a.closest(".group").hidden).length} findings` : "";
}
for (const field of [query, models, contracts, only, ...severities]) field.addEventListener("input", apply);
document.addEventListener("keydown", event => {
  if (event.key === "/" && !event.target.matches("input, select") && !detail.open) { query.focus(); event.preventDefault(); }
  if (event.key === "Escape" && event.target === query) { query.value = ""; apply(); }
});
if (!all(".views input:checked").length) byId(matchMedia("(min-width: 82rem)").matches ? "by-contract" : "by-family").checked = true;
apply();
let folded = [];
addEventListener("beforeprint", () => { folded = all(".group:not([open])"); for (const group of folded) group.open = true; });
addEventListener("afterprint", () => { for (const group of folded) group.open = false; });
