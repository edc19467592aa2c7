import { type Read, object } from "../read/reader.ts";
import { text, uuid } from "../read/values.ts";

/** A folder has no operation of its own: requests name it, answers give its id (Test case, `folderId`). */
export const folderReader = object((fields) => ({
  id: fields.required("id", uuid),
  testTargetId: fields.required("testTargetId", uuid),
  name: fields.required("name", text),
}));

export type Folder = Read<typeof folderReader>;
