import { type CommandSpec, SHELLS } from "../../cli/command-table.ts";
import { MISSING_SECRETS, SERVICE_OPTIONS } from "../../cli/options.ts";

/** Commands that help with tasc itself. */
export const HELP_COMMANDS: readonly CommandSpec[] = [
  {
    name: "doctor",
    summary: "check all that a plan and an apply need",
    options: [
      { flags: "--format <format>", description: "how to print it", choices: ["text", "json"] },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc doctor --stage production", does: "one line a check; 1 if one fails" },
      { command: "tasc doctor --format json", does: "for a program" },
    ],
    load: () => import("../doctor.ts"),
  },
  {
    name: "completion",
    summary: "print a script that lets your shell complete tasc",
    args: [{ name: "<shell>", description: "which shell", choices: SHELLS }],
    examples: [
      { command: 'eval "$(tasc completion bash)"', does: "in ~/.bashrc" },
      { command: 'eval "$(tasc completion zsh)"', does: "in ~/.zshrc, after compinit" },
      { command: "tasc completion fish > ~/.config/fish/completions/tasc.fish", does: "once" },
    ],
    load: () => import("../completion.ts"),
  },
];
