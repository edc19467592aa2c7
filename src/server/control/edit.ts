import type { JsonObject } from "../../model/json.ts";
import { environmentReader } from "../data/environment.ts";
import { testCaseReader } from "../data/testCase.ts";
import { testTargetReader } from "../data/testTarget.ts";
import type { Answered } from "../http/answered.ts";
import { ok } from "../http/reply.ts";
import { parseOwn } from "../read/parse.ts";
import { type Reader, object } from "../read/reader.ts";
import { badValue, notFound } from "../read/refusal.ts";
import { flag, freeForm, oneOf, uuid } from "../read/values.ts";
import type { Service } from "../service.ts";
import type { Table } from "../store/table.ts";
import { type ControlOperation, done } from "./control.ts";
import { removeTestCase, removeTestTarget } from "./remove.ts";

const edit = object((fields) => ({
  kind: fields.required("kind", oneOf("testTarget", "environment", "testCase")),
  id: fields.required("id", uuid),
  set: fields.optional("set", freeForm) ?? {},
  remove: fields.optional("remove", flag) ?? false,
}));

/** POST /control/edit: what a colleague could do in the web application. Answers the resource as stored. */
export const editResource: ControlOperation = ({ service }, call) => {
  const { kind, id, set, remove } = edit(call.body(), "");
  const editor = editorsOf(service)[kind];
  return service.store.write(() => {
    const edited = editor.set(id, { updatedAt: service.world.now(), ...set });
    if (!remove) return ok(edited);
    editor.remove(id);
    return done;
  });
};

type Editor = {
  readonly set: (id: string, set: JsonObject) => Answered;
  readonly remove: (id: string) => void;
};

function editorsOf({ store, world }: Service): Record<"testTarget" | "environment" | "testCase", Editor> {
  return {
    testTarget: {
      set: (id, set) => overwrite(store.testTargets, testTargetReader(world), id, set),
      remove: (id) => removeTestTarget(store, id),
    },
    environment: {
      set: (id, set) => overwrite(store.environments, environmentReader(world), id, set),
      remove: (id) => store.environments.remove(id),
    },
    testCase: {
      set: (id, set) => overwrite(store.testCases, testCaseReader(world), id, set),
      remove: (id) => removeTestCase(store, id),
    },
  };
}

/** The stored row with some fields replaced, read anew: so an edit can no more break a row than a request can. */
function overwrite<T>(table: Table<T>, read: Reader<T>, id: string, set: JsonObject): T {
  for (const name of ["id", "testTargetId"])
    if (Object.hasOwn(set, name)) throw badValue(`set.${name}`, "cannot change");
  const current = table.get(id);
  if (current === undefined) throw notFound("resource");
  const stored = freeForm(parseOwn(JSON.stringify(current)), "");
  const edited = read({ ...stored, ...set }, "set");
  table.update(edited);
  return edited;
}
