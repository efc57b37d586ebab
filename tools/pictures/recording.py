"""``python -m tools.pictures.recording FOLDER``: `kubespread serve` by hand, as an animated picture and two stills.

Chromium makes WebP pictures; here they are put one behind the other, each with how long it is shown.
https://developers.google.com/speed/webp/docs/riff_container
"""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.pictures.chromium import Page, opened_browser
from tools.pictures.pages import PROGRAM

# As it is named in the checkout, where this is run.
CLUSTER = "fixtures/cases/everyday/aws12.json.gz"
WORKLOAD = "shop/deploy/web"
WIDTH, HEIGHT, SCALE = 1400, 860, 0.7
QUALITY = 62
SETTLED = "!('asks' in document.getElementById('hand').dataset) && document.getElementById('hand').dataset.answered > 0"
POINTER = """{
  const pointer = document.createElement('div'); pointer.id = 'pointer';
  Object.assign(pointer.style, {position: 'fixed', zIndex: 9, width: '18px', height: '18px', borderRadius: '50%',
    border: '3px solid #d4380d', background: 'rgb(255 120 60 / 0.35)', pointerEvents: 'none',
    transform: 'translate(-50%, -50%)'});
  document.body.append(pointer);
  const menu = document.getElementById('menu');
  new MutationObserver(() => (menu.open ? menu : document.body).append(pointer)).observe(menu, {attributes: true});
} 0"""


class Recording:
    """Frames of a page, and for how many milliseconds each is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[tuple[bytes, int]] = []

    def show(self, milliseconds: int) -> None:
        """What the page shows now, for so long; longer, where it shows the same as before."""
        self._page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
        shot = self._page.call("Page.captureScreenshot", format="webp", quality=QUALITY, clip=clip)
        picture = base64.b64decode(shot["data"])
        if self.frames and self.frames[-1][0] == picture:
            picture, before = self.frames.pop()
            milliseconds += before
        self.frames.append((picture, milliseconds))

    def point(self, x: float, y: float) -> None:
        self._page.run(f"Object.assign(document.getElementById('pointer').style, {{left: '{x}px', top: '{y}px'}}) && 0")

    def drag(self, element: str, parts: int, by: float) -> None:
        """A slider, a bit at a time."""
        x, y = self._page.run(
            f"(() => {{ const slider = document.querySelector(`{element}`); const box = slider.getBoundingClientRect();"
            "const part = (slider.value - slider.min) / (slider.max - slider.min);"
            "return [box.x + 8 + part * (box.width - 16), box.y + box.height / 2] })()"
        )
        self._page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for _ in range(parts):
            x += by / parts
            self._page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
            self.point(x, y)
            self._page.wait(SETTLED)
            self.show(170)
        self._page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
        self._page.wait(SETTLED)

    def click(self, button: str) -> None:
        """The button whose label or text begins so."""
        x, y = self._page.run(
            "(() => { const each = [...document.querySelectorAll('button')].find(each => "
            f"(each.getAttribute('aria-label') || each.textContent).startsWith('{button}') && each.offsetParent);"
            "const box = each.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()"
        )
        self.point(x, y)
        self.show(500)
        for kind in ("mousePressed", "mouseReleased"):
            self._page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self._page.wait(SETTLED)


def animated(frames: list[tuple[bytes, int]]) -> bytes:
    """One picture of WebP pictures of the same size, which begins again at its end."""
    width, height = round(WIDTH * SCALE), round(HEIGHT * SCALE)
    size = _uint24(width - 1) + _uint24(height - 1)
    parts = [_chunk(b"VP8X", b"\x02\0\0\0" + size), _chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))]
    for picture, milliseconds in frames:
        frame = _uint24(0) * 2 + size + _uint24(milliseconds) + b"\x02"
        parts.append(_chunk(b"ANMF", frame + b"".join(_images(picture))))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _images(picture: bytes) -> Iterator[bytes]:
    """The chunks of a still picture that are its image, behind RIFF, its size and WEBP; not those about its colors."""
    place = 12
    while place < len(picture):
        (size,) = struct.unpack_from("<I", picture, place + 4)
        end = place + 8 + size + size % 2
        if picture[place : place + 3] == b"VP8" and picture[place + 3 : place + 4] != b"X":
            yield picture[place:end]
        place = end


def _uint24(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def light(page: Page, *, is_on: bool) -> None:
    """Light or dark, and nothing in the middle of moving."""
    features = {"prefers-color-scheme": "light" if is_on else "dark", "prefers-reduced-motion": "reduce"}
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()]
    )


def still(page: Page, file: Path) -> None:
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
    file.write_bytes(
        base64.b64decode(page.call("Page.captureScreenshot", format="webp", quality=70, clip=clip)["data"])
    )


def main(folder: Path) -> None:
    serve = [str(PROGRAM), "serve", "-S", CLUSTER, "--no-browser"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            record(serving.stdout.readline().strip(), folder)
        finally:
            serving.kill()


def record(url: str, folder: Path) -> None:
    with opened_browser() as page:
        page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        page.visit(url, url.partition("#")[0])
        light(page, is_on=True)
        page.wait(SETTLED)
        page.run(
            f"{{ const chosen = document.getElementById('turn-workload'); chosen.value = '{WORKLOAD}';"
            "chosen.dispatchEvent(new Event('change')) } 0"
        )
        page.wait(f"{SETTLED} && document.getElementById('command').textContent.includes('deploy/web')")
        page.run(POINTER)
        recording = Recording(page)
        recording.show(1500)
        recording.drag("#turn-replicas", 6, 36)
        recording.show(1600)
        recording.drag("[aria-label='zone maxSkew']", 5, 110)
        recording.show(1800)
        recording.click("Undo")
        recording.show(900)
        recording.click("Zone eu-west-1c")
        recording.show(900)
        recording.click("Fail")
        recording.show(2600)
        still(page, folder / "by-hand.webp")
        light(page, is_on=False)
        still(page, folder / "by-hand-dark.webp")
        light(page, is_on=True)
        recording.click("Undo")
        recording.show(900)
        recording.click("ip-10-0-35-130")
        recording.show(900)
        recording.click("Drain")
        recording.show(2600)
        (folder / "by-hand-moving.webp").write_bytes(animated(recording.frames))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
