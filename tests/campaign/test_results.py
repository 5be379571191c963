"""Tables of results are taken whole or not at all."""

from __future__ import annotations

import pandas as pd
import pytest

from ridgeway import Campaign, CampaignError


def test_a_table_of_results_is_taken_whole_or_not_at_all(campaign: Campaign) -> None:
    trials = campaign.ask(4)
    frame = pd.DataFrame({"remark": ["", "late", None, "x"], "value": [1.0, None, 3.0, 4.0], "trial": [4, 3, 2, 9]})
    with pytest.raises(CampaignError, match="the table, row 3: there is no trial 9"):
        campaign.tell_table(frame)
    assert len(campaign.pending) == 4
    told = campaign.tell_table(frame.head(3))
    assert (told.told, told.pending) == ((4, 2), 1)
    again = campaign.tell_table(frame.head(3))
    assert (again.told, again.already) == ((), (4, 2))
    assert campaign.all_trials()[1].sequence == 1
    assert trials[1].x.tolist() == [*campaign.belief.X[1].tolist()[:1], trials[1].inputs["b"]]


def test_data_from_before(campaign: Campaign) -> None:
    frame = pd.DataFrame({"b": [0.1, 1.0], "a": [0.5, 0.25], "value": [0.3, 0.4], "batch": [7, 8]})
    assert campaign.attach(frame) == [1, 2]
    with pytest.raises(CampaignError, match="row 0 is in the campaign already, as trial 1"):
        campaign.attach(frame)
    assert campaign.attach(frame.head(1), repeated=True) == [3]
    with pytest.raises(CampaignError, match="row 0, column 'a': is 2, not within"):
        campaign.attach(frame.head(1).assign(a=2.0))
    with pytest.raises(CampaignError, match="has no column 'b', which is an input"):
        campaign.attach(frame.drop(columns="b"))
    assert campaign.all_trials()[0].notes == {"batch": "7"}
    assert campaign.belief.y.tolist() == [0.3, 0.4, 0.3]
