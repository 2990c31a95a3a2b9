"""Packs the folder argv[1] into the wheel argv[2], all times argv[3] in seconds since 1970, and adds the wheel's RECORD."""
import base64, hashlib, os, sys, time, zipfile

root, wheel, seconds = sys.argv[1], sys.argv[2], max(int(sys.argv[3]), 315532800)
files = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)
info = next(name for name in files if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
lines = []


def add(archive, name, content, mode):
    entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100000 | mode) << 16
    archive.writestr(entry, content)


with zipfile.ZipFile(wheel, "w") as archive:
    for name in files:
        with open(os.path.join(root, name), "rb") as file:
            content = file.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
        add(archive, name, content, 0o755 if ".data/scripts/" in name else 0o644)
    lines.append(f"{info}/RECORD,,\n")
    add(archive, f"{info}/RECORD", "".join(lines), 0o644)
