import { expect, test } from "vitest";
import { Manifests } from "../../src/edit/manifests.ts";
import { readProject } from "../../src/manifest/load.ts";
import { PROJECT } from "../import/project.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";

test("a target's field in the override of its second document is changed there", async () => {
  const folder = memoryFolder({
    "tasc.yaml": `${PROJECT}stages: { production: {} }\n`,
    "targets/a.yaml": "target: shop\napp: Shop\nstages: { production: { timeoutPerStep: 5 } }\n",
    "targets/b.yaml": "target: shop\nstages: { production: { app: Store } }\n",
  });
  const { project, documents } = await readProject(folder);
  if (project === undefined) throw new Error("the project should load");
  const manifests = new Manifests({ project, documents });
  const fileOf = (name: string) =>
    manifests.stageSlot({
      stage: "production",
      address: "target.shop",
      field: { name, path: [name] },
    })?.file;
  expect(["app", "timeoutPerStep", "testIdAttribute"].map(fileOf)).toEqual([
    "targets/b.yaml",
    "targets/a.yaml",
    "targets/a.yaml",
  ]);
});
