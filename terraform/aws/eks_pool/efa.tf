# Elastic Fabric Adapter interfaces of each instance type that has them: one a network card. Facts of the EC2 API
# (DescribeInstanceTypes, NetworkInfo.EfaInfo.MaximumEfaInterfaces), as listed for every type at
# https://karpenter.sh/docs/reference/instance-types/ (vpc.amazonaws.com/efa), read 2026-11-21. A type that is not here
# gets none unless efa_interface_count says otherwise. `aws ec2 describe-instance-types --filters
# Name=network-info.efa-supported,Values=true` lists those of a region.
locals {
  efa_interface_counts = {
    "dl2q.24xlarge"    = 1
    "g4dn.8xlarge"     = 1
    "g4dn.12xlarge"    = 1
    "g4dn.16xlarge"    = 1
    "g4dn.metal"       = 1
    "g5.8xlarge"       = 1
    "g5.12xlarge"      = 1
    "g5.16xlarge"      = 1
    "g5.24xlarge"      = 1
    "g5.48xlarge"      = 1
    "g6.8xlarge"       = 1
    "g6.12xlarge"      = 1
    "g6.16xlarge"      = 1
    "g6.24xlarge"      = 1
    "g6.48xlarge"      = 1
    "g6e.8xlarge"      = 1
    "g6e.12xlarge"     = 1
    "g6e.16xlarge"     = 1
    "g6e.24xlarge"     = 2
    "g6e.48xlarge"     = 4
    "g7.8xlarge"       = 1
    "g7.12xlarge"      = 1
    "g7.24xlarge"      = 1
    "g7.48xlarge"      = 2
    "g7e.8xlarge"      = 1
    "g7e.12xlarge"     = 1
    "g7e.24xlarge"     = 2
    "g7e.48xlarge"     = 4
    "gr6.8xlarge"      = 1
    "p3dn.24xlarge"    = 1
    "p4d.24xlarge"     = 4
    "p4de.24xlarge"    = 4
    "p5.4xlarge"       = 1
    "p5.48xlarge"      = 32
    "p5e.48xlarge"     = 32
    "p5en.48xlarge"    = 16
    "p6-b200.48xlarge" = 8
    "p6-b300.48xlarge" = 16
    "trn1.32xlarge"    = 8
    "trn1n.32xlarge"   = 16
    "trn2.48xlarge"    = 16
  }
  # Network card 0 of these carries ENA only; their EFA sits on the cards from 1 on.
  efa_from_card_1 = ["p6-b300.48xlarge"]

  # A launch template has one set of interfaces: types that differ in theirs share none.
  efa_shared = distinct([for type in local.instance_types : lookup(local.efa_interface_counts, type, 0)])
  efa_count = coalesce(
    var.efa_interface_count,
    length(local.efa_shared) == 1 ? local.efa_shared[0] : 0,
  )
  efa_first_card = contains(local.efa_from_card_1, var.instance_type) ? 1 : 0

  # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html: the first interface is plain ENA and
  # carries the node's address; EFA-only ones, without address, take device 1 beside it and device 0 on further cards.
  interfaces = concat(
    [{ card = 0, device = 0, type = "interface" }],
    [for card in range(local.efa_first_card, local.efa_first_card + local.efa_count) : {
      card   = card
      device = card == 0 ? 1 : 0
      type   = "efa-only"
    }],
  )
}
