"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile


def write_whole(path: str, content: str | bytes) -> None:
    """Put ``content`` (a text as UTF-8, line ends as they are) in place of a file; who reads it sees old or new.

    Permission bits are kept, a link keeps pointing at the file. Raises ``OSError``, and then leaves nothing behind.
    """
    data = content if isinstance(content, bytes) else content.encode()
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a device or pipe is written to, never replaced
        with open(path, "wb") as stream:
            stream.write(data)
        return
    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o644
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
