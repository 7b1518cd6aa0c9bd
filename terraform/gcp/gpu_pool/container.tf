locals {
  # A word in single quotes is one argument to the shell, whatever is in it.
  shell_words = [
    for word in concat(compact([var.container_image]), var.container_command) : "'${replace(word, "'", "'\\''")}'"
  ]
  node_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    prepare = base64encode(file("${path.module}/prepare-node.sh"))
    script = var.container_image == null ? null : base64encode(templatefile("${path.module}/run-container.sh.tftpl", {
      image     = local.shell_words[0]
      command   = join(" ", slice(local.shell_words, 1, length(local.shell_words)))
      cuda_line = coalesce(var.cuda_line, "none")
    }))
  })
}
