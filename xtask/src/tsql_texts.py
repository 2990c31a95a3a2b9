# The texts of the suites as they lie in their files: statements by name, and lines that stand only under departures from the clauses.
import re


def holding(text, departures):
    """The lines that stand under all departures, or under none."""
    lines = []
    for line in text.splitlines():
        match = re.search(r"-- ((?:not )?under .*)$", line)
        if match:
            if not all(one.strip().startswith("under") == departures for one in match.group(1).split(",")):
                continue
            line = line[: match.start()]
        lines.append(line)
    return "\n".join(lines)


def statements(path, departures):
    """Names and texts of a file; a file without names is one statement."""
    text = holding(path.read_text(), departures)
    if "-- name:" not in text:
        yield path.stem, text
        return
    for part in text.split("-- name:")[1:]:
        header, _, sql = part.partition("\n")
        if sql.strip():
            yield header.split("(")[0].strip(), sql
