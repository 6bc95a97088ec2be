"""Slow and obvious twins of the ways to stop and to prune, on trees as lists."""

LEAF = 0


def children(nodes, i):
    return [] if nodes["kind"][i] == LEAF else [int(nodes["left"][i]), int(nodes["right"][i])]


def best_first(nodes, gains, max_leaf_nodes):
    """The nodes that ask if the leaf that gains most is split until there are enough; in order."""
    leaves, asked = [0], []
    while len(leaves) < max_leaf_nodes:
        waiting = [i for i in leaves if children(nodes, i)]
        if not waiting:
            break
        best = min(waiting, key=lambda i: (-gains[i], i))
        leaves.remove(best)
        leaves += children(nodes, best)
        asked.append(best)
    return asked


def cheapest(nodes, costs, alpha, i=0):
    """The least of cost of leaves + alpha a leaf below node i; and the nodes that ask then, as few
    as may be."""
    if not children(nodes, i):
        return costs[i] + alpha, []
    parts = [cheapest(nodes, costs, alpha, child) for child in children(nodes, i)]
    apart = sum(cost for cost, _ in parts)
    alone = costs[i] + alpha
    if alone <= apart * (1 + 1e-12):
        return alone, []
    return apart, sorted([i] + [j for _, asked in parts for j in asked])


def asking(nodes, leaf):
    """The nodes that still ask if those for which leaf[i] holds do not."""
    found, waiting = [], [0]
    while waiting:
        i = waiting.pop()
        if children(nodes, i) and not leaf[i]:
            found.append(i)
            waiting += children(nodes, i)
    return sorted(found)


def ways(nodes, i=0):
    """Each leaf's way: the nodes from the root down to it."""
    if not children(nodes, i):
        return [[i]]
    return [[i, *way] for child in children(nodes, i) for way in ways(nodes, child)]
