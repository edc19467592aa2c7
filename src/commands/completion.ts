import type { View } from "../render/view.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { oneOf } from "./options.ts";
import bash from "./templates/tasc.bash?raw";
import fish from "./templates/tasc.fish?raw";
import zsh from "./templates/tasc.zsh?raw";

const OPTIONS = { shell: oneOf("<shell>", "shell to complete for", ["bash", "zsh", "fish"]) };

export const command = defineCommand({
  group: "Start",
  summary: "print a shell completion script",
  examples: {
    'eval "$(tasc completion bash)"': "enable completion; add this to ~/.bashrc",
    'eval "$(tasc completion zsh)"': "enable completion; add this to ~/.zshrc, after compinit",
    "tasc completion fish > ~/.config/fish/completions/tasc.fish": "enable completion; run once",
  },
  options: OPTIONS,
  run: completion,
});

async function completion({ shell }: OptionsOf<typeof OPTIONS>): Promise<View> {
  return { json: { shell, script: SCRIPTS[shell] }, text: [[{ lines: SCRIPTS[shell] }]] };
}

/*
 * The scripts do not contain the commands: each passes the line up to the cursor to the hidden
 * `tasc __complete`, so that it stays correct when tasc is updated. The bash script works with bash
 * 3.2 of macOS, without bash-completion.
 */
const SCRIPTS = { bash, zsh, fish };
