locals {
  # A word in single quotes is one argument to the shell, whatever is in it.
  shell_words = [
    for word in concat(compact([var.container_image]), var.container_command) : "'${replace(word, "'", "'\\''")}'"
  ]
  container_script = var.container_image == null ? null : base64encode(templatefile("${path.module}/run-container.sh.tftpl", {
    image   = local.shell_words[0]
    command = join(" ", slice(local.shell_words, 1, length(local.shell_words)))
  }))
  startup_scripts = [
    for end in local.ends : end == null && local.container_script == null ? var.startup_script : templatefile("${path.module}/startup.sh.tftpl", {
      end_script       = end == null ? null : filebase64("${path.module}/end-slice.sh")
      container_script = local.container_script
      own_script       = var.startup_script == null ? null : base64encode(var.startup_script)
    })
  ]
}
