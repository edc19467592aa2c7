import type { CommandSpec } from "../../cli/command-table.ts";
import { MISSING_SECRETS } from "../../cli/options.ts";

export const PROJECT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "init",
    summary: "write a project that validates and plans at once",
    examples: [
      { command: "tasc init", does: "in the current folder" },
      { command: "tasc init --chdir e2e", does: "in the folder e2e" },
    ],
    load: () => import("../init.ts"),
  },
  {
    name: "validate",
    summary: "check the manifests, without the service",
    options: [
      MISSING_SECRETS,
      {
        flags: "--format <format>",
        description: "how to print what was found",
        choices: ["text", "json", "github", "sarif", "junit"],
      },
    ],
    examples: [
      { command: "tasc validate", does: "check the project in the current folder" },
      {
        command: "tasc validate --stage production --allow-missing-secrets",
        does: "without the secrets of production",
      },
      { command: "tasc validate --format github", does: "annotations in a pull request" },
    ],
    load: () => import("../validate.ts"),
  },
  {
    name: "schema",
    summary: "print a JSON Schema, or install them for an editor",
    args: [{ name: "[which]", description: "of which document", choices: ["project", "target", "plan"] }],
    options: [
      {
        flags: "--install <editor>",
        description: "put the schemas into the project and into the editor's settings instead",
        choices: ["vscode"],
      },
    ],
    examples: [
      { command: "tasc schema target > target.schema.json", does: "for a program" },
      { command: "tasc schema --install vscode", does: "completion and checks in VS Code's YAML extension" },
    ],
    load: () => import("../schema.ts"),
  },
];
