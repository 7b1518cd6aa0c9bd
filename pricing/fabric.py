"""How the nodes of an instance type are joined: network, RDMA, and how many nodes one fabric joins."""

from __future__ import annotations

from dataclasses import fields

from pricing.frozen_values import dataclass

SLICE_FABRIC = "ICI"
"""The fabric inside a TPU slice; nothing joins one slice to another."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """The network of one node of an instance type; for a TPU slice, which is one node here, what it is made of."""

    provider: str
    instance_type: str
    network_gbps: float | None
    """Network of a node, Gbit/s; of small sizes a peak that they do not sustain."""
    rdma: str
    """Kind of remote memory access between nodes: EFA, InfiniBand, GPUDirect-TCPX, RoCE, ICI ...; empty: none."""
    rdma_gbps: float | None
    """Of it, Gbit/s of a node."""
    nodes_joined: int | None
    """Most nodes that one fabric joins; 1: a node stands alone; None: joined without a stated limit."""
    network_interfaces: int | None
    topology: str
    """Chips of a TPU slice by dimension: 8x8."""
    hosts: int | None
    """Virtual machines of a TPU slice."""
    machine_type: str
    """Machine type of the hosts of a TPU slice."""
    source: str
    checked: str
    confidence: str

    @property
    def key(self) -> tuple[str, str]:
        return (self.provider, self.instance_type)

    @property
    def gbps(self) -> float | None:
        """What a gang that spans nodes has between them, Gbit/s of a node: RDMA where there is any."""
        return self.rdma_gbps or self.network_gbps

    def joins(self, nodes: int) -> bool:
        """Whether one fabric joins that many nodes of the type."""
        return nodes == 1 or (self.rdma != "" and (self.nodes_joined is None or nodes <= self.nodes_joined))


def unknown_fabric(provider: str, instance_type: str, network_gbps: float | None) -> Fabric:
    """The fabric of a type of which no source says how its nodes are joined."""
    return Fabric(provider, instance_type, network_gbps, "", None, 1, None, "", None, "", "", "", "")


FABRIC_COLUMNS = tuple(field.name for field in fields(Fabric))
