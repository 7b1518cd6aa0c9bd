# The networks over which the accelerators of one job talk: each interface of a node is in one of its own. Facts of
# https://docs.cloud.google.com/compute/docs/gpus/gpu-network-bandwidth, read 2026-11-22, and the catalogue's count of
# interfaces: A3 High and Edge (GPUDirect-TCPX) have 4 beside the first, A3 Mega (GPUDirect-TCPXO) 8, A3 Ultra and A4 one more
# and 8 of RDMA over Converged Ethernet, which lie in one network of the zone.
locals {
  is_gang = var.gang_nodes > 1
  fabrics = {
    "a3-highgpu-8g"         = { plain = 4, rdma = 0 }
    "a3-edgegpu-8g"         = { plain = 4, rdma = 0 }
    "a3-edgegpu-8g-nolssd"  = { plain = 4, rdma = 0 }
    "a3-megagpu-8g"         = { plain = 8, rdma = 0 }
    "a3-ultragpu-8g"        = { plain = 1, rdma = 8 }
    "a3-ultragpu-8g-nolssd" = { plain = 1, rdma = 8 }
    "a4-highgpu-8g"         = { plain = 1, rdma = 8 }
  }
  fabric = local.is_gang ? lookup(local.fabrics, var.machine_type, { plain = 0, rdma = 0 }) : { plain = 0, rdma = 0 }
  # One range for each interface; they must not overlap on a node.
  ranges = [for n in range(16) : cidrsubnet(var.gpu_address_space, 4, n)]
  interfaces = concat(
    [for subnet in google_compute_subnetwork.plain : { network = subnet.network, subnetwork = subnet.id, type = "GVNIC" }],
    [for subnet in google_compute_subnetwork.rdma : { network = subnet.network, subnetwork = subnet.id, type = "MRDMA" }],
  )
}

resource "google_compute_network" "plain" {
  count = local.fabric.plain

  name                    = "${var.name}-gpu${count.index}"
  description             = "Interface ${count.index + 1} of the nodes of ${var.name}"
  project                 = local.place.project
  auto_create_subnetworks = false
  mtu                     = 8244
}

resource "google_compute_subnetwork" "plain" {
  count = local.fabric.plain

  name                     = "${var.name}-gpu${count.index}"
  project                  = local.place.project
  region                   = local.place.region
  network                  = google_compute_network.plain[count.index].id
  ip_cidr_range            = local.ranges[count.index]
  private_ip_google_access = true
}

resource "google_compute_firewall" "plain" {
  count = local.fabric.plain

  name          = "${var.name}-gpu${count.index}"
  description   = "Nodes of ${var.name} reach each other"
  project       = local.place.project
  network       = google_compute_network.plain[count.index].id
  direction     = "INGRESS"
  source_ranges = [local.ranges[count.index]]

  allow {
    protocol = "tcp"
  }

  allow {
    protocol = "udp"
  }

  allow {
    protocol = "icmp"
  }
}

# Its profile lets everything in that is on it, and knows no firewall rules of one's own by default.
# https://docs.cloud.google.com/vpc/docs/rdma-network-profiles
resource "google_compute_network" "rdma" {
  count = local.fabric.rdma > 0 ? 1 : 0

  name                    = "${var.name}-rdma"
  description             = "RDMA between the accelerators of ${var.name}"
  project                 = local.place.project
  auto_create_subnetworks = false
  mtu                     = 8896
  network_profile         = "projects/${local.place.project}/global/networkProfiles/${local.place.zone}-vpc-roce"
}

resource "google_compute_subnetwork" "rdma" {
  count = local.fabric.rdma

  name          = "${var.name}-rdma${count.index}"
  project       = local.place.project
  region        = local.place.region
  network       = google_compute_network.rdma[0].id
  ip_cidr_range = local.ranges[8 + count.index]
}
