"""Names of container images.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, normalizedImageName
"""

from __future__ import annotations


def normalized_image(image: str) -> str:
    """The name with its default tag: a colon before the last slash belongs to a registry's port."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
