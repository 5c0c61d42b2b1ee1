import numpy as np
import pytest
import torch
from scipy.stats import rankdata

from toprank.networks import sorting


@pytest.fixture(scope="module")
def network():
    """Learned once, and then from the cache as every user has it."""
    return sorting._kept(sorting.cache_folder() / sorting.FILE)


def test_ranks_of_lists_it_has_not_seen_are_within_a_percent(network):
    lists = sorting.made_up_lists(200, 100, torch.Generator().manual_seed(12345))
    true = rankdata(-lists.numpy(), axis=1)
    with torch.no_grad():
        wrong = np.abs(network(lists).numpy() - true)
    assert wrong.mean() < 1.0  # of 100
    assert wrong.mean(axis=1).max() < 2.0


def test_ranks_follow_their_items_and_add_up(network):
    scores = torch.as_tensor(np.random.default_rng(0).normal(size=30), dtype=torch.float32)
    order = torch.randperm(30)
    with torch.no_grad():
        ranks = network(scores)
        torch.testing.assert_close(network(scores[order]), ranks[order])
        assert float(ranks.sum()) == pytest.approx(30 * 31 / 2, rel=1e-5)


def test_training_lowers_the_loss_and_is_the_same_again():
    first, second = sorting.train_sorter(1, steps=3), sorting.train_sorter(1, steps=3)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_was_learned_is_kept_and_a_broken_file_is_learned_anew(tmp_path, monkeypatch):
    file, trained = tmp_path / "cache" / "sorter.safetensors", []

    def quick():
        trained.append(1)
        return sorting.SortingNetwork().eval()

    monkeypatch.setattr(sorting, "train_sorter", quick)
    for content, times in ((None, 1), (None, 1), (b"broken", 2), (b"", 3)):
        if content is not None:
            file.write_bytes(content)
        sorting._kept(file)
        assert len(trained) == times
    (tmp_path / "file").write_text("no folder")
    sorting._kept(tmp_path / "file" / "sorter.safetensors")  # cannot be kept: learned all the same


def test_the_cache_can_be_put_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("TOPRANK_CACHE", str(tmp_path))
    assert sorting.cache_folder() == tmp_path
