"""Nodes that wait for their turn: a heap of their numbers, from place 1 on, that of the least key
first; of equal keys the first node."""

from forestlab.core.jit import jitable


@jitable
def comes_first(key, i, j):
    return key[i] < key[j] or (key[i] == key[j] and i < j)


@jitable
def enter(key, heap, n, i):
    """Have node i wait too, who is the n-th."""
    place = n
    while place > 1 and comes_first(key, i, heap[place >> 1]):
        heap[place] = heap[place >> 1]
        place >>= 1
    heap[place] = i


@jitable
def replace_first(key, heap, n, i):
    """Have node i, the first itself or the last, wait in place of the first of n."""
    place = 1
    while 2 * place <= n:
        child = 2 * place
        if child < n and comes_first(key, heap[child + 1], heap[child]):
            child += 1
        if comes_first(key, i, heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = i
