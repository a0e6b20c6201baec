// Instances as people tell them apart.

/** An instance in short: its address, and the number of its process. @param {string} id */
export function ownerName(id) {
  if (!id) return "–";
  const [address, rest] = id.split("@-@");
  return rest ? `${address} · ${rest.split("-")[0]}` : address;
}
