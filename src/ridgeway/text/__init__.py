"""Text as people write and see it: numbers, cells of a spreadsheet, lines of a terminal, displays in a notebook."""
