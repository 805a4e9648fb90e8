"""Writes guides/pytorch_names.md from the list in the package: ./dev python docs/write_pytorch_names.py"""

from pathlib import Path

from fuselet import pytorch_names

TABLE = Path(__file__).parent / "guides/pytorch_names.md"

if __name__ == "__main__":
    TABLE.write_text(pytorch_names.markdown(), encoding="utf-8")
