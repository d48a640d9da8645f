"""How large is what finds queues in headers, in a configuration."""

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Headers(BaseModel):
    """Queues are found in the headers of frames (blocks/profile/README.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profiles: int = Field(8, strict=True, ge=1, le=15, description="Number of profiles, each of which says what makes the key.")
    entries: int = Field(
        strict=True, ge=16, le=1 << 20, description="Places for keys of subscribers, a power of two; 92 % of them can be used."
    )

    prefix_levels: int = Field(
        0, strict=True, ge=0, le=9,
        description="Levels of the tree of prefixes, 0 for none or 2 to 9; n levels hold any 2^(2n - 1) - 1 prefixes, 7 levels 8,191.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _check(self) -> "Headers":
        if self.entries & (self.entries - 1):
            raise ValueError(f"entries must be a power of two, not {self.entries:,}")
        if self.prefix_levels == 1:
            raise ValueError("prefix_levels must be 0 or 2 to 9, not 1")
        return self
