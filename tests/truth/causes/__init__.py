"""The causes of the matrix, one family per file. Data only; `../matrix.py` gathers them in chapters."""
