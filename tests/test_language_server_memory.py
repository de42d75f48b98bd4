"""A long session in an editor does not grow: a thousand edits with real lints, in the process of the server."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from .editor import editing

FIR = "acme_automodel/components/models/fir/model.py"
POLICY = "    tie_word_embeddings_support: TieSupport = TieSupport.BOTH\n"
EDITS, WARM = 1000, 200
MOST = 24  # MB; a list that keeps one syntax tree of the file an edit would take hundreds


@pytest.mark.asyncio
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of another process is read from /proc")
async def test_a_thousand_edits_do_not_grow(example: Path):
    async with editing(example) as editor:

        def memory() -> float:
            status = Path(f"/proc/{editor.process.pid}/status").read_text()
            match = re.search(r"VmRSS:\s+(\d+) kB", status)
            assert match is not None
            return int(match[1]) / 1024

        text = editor.open(FIR)
        bad = text.replace(POLICY, "")
        warm = 0.0
        for number in range(EDITS):
            is_bad = number % 2 == 0
            editor.type(FIR, f"{bad if is_bad else text}# edit {number}\n")
            await editor.until(FIR, lambda codes, is_bad=is_bad: codes == (["NAM201"] if is_bad else []))
            if number == WARM:
                warm = memory()
        grown = memory() - warm
        assert grown < MOST, f"{warm:.0f} MB after {WARM} edits, {grown:+.1f} MB after {EDITS}"
