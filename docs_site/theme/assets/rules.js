// The filter of the table of rules. What is asked for stands in the address, so that a filtered table can be linked to.

var FIELDS = ["family", "severity", "fix", "text"];

// Whether a rule (its family, severity, fix and text) fits what is wanted; an empty wish wants everything.
function fits(rule, wanted) {
  var words = (wanted.text || "").toLowerCase().split(/\s+/);
  return ["family", "severity", "fix"].every(function (field) {
    return !wanted[field] || rule[field] === wanted[field];
  }) && words.every(function (word) {
    return rule.text.toLowerCase().indexOf(word) !== -1;
  });
}

function start(form) {
  var table = document.querySelector("table.rules");
  var rows = Array.prototype.slice.call(table.querySelectorAll("tr[data-code]"));
  var status = form.querySelector("[role=status]");

  function show() {
    var wanted = {}, query = new URLSearchParams();
    FIELDS.forEach(function (field) {
      wanted[field] = form.elements[field].value.trim();
      if (wanted[field]) query.set(field, wanted[field]);
    });
    rows.forEach(function (row) {
      row.hidden = !fits(Object.assign({ text: row.textContent }, row.dataset), wanted);
    });
    Array.prototype.forEach.call(table.tBodies, function (body) {
      body.hidden = !body.querySelector("tr[data-code]:not([hidden])");
    });
    var shown = rows.filter(function (row) { return !row.hidden; }).length;
    status.textContent = shown === rows.length ? shown + " rules" : shown + " of " + rows.length + " rules";
    history.replaceState(null, "", location.pathname + (String(query) && "?" + query) + location.hash);
  }

  var query = new URLSearchParams(location.search);
  FIELDS.forEach(function (field) {
    form.elements[field].value = query.get(field) || ""; // a value that no option has chooses nothing
    if (form.elements[field].selectedIndex === -1) form.elements[field].value = "";
  });
  form.addEventListener("input", show);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("reset", function () { setTimeout(show); }); // the fields are emptied after the event
  form.hidden = false;
  show();
}

if (typeof document !== "undefined" && document.querySelector(".rule-filter")) {
  start(document.querySelector(".rule-filter"));
}
