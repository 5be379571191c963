"""A campaign as a page that stays open: ``ridgeway serve``. Needs the extra ``serve``."""
