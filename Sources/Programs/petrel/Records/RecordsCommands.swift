import AdminAPI
import CommandInterface
import JSONCoding

extension AdminCommand {
  static let recordsQuery = AdminCommand(
    "records query", "Finds records of a type by a predicate.",
    example:
      "petrel records query --container iCloud.com.example.app --type Earthquake --sort -time",
    .post("records/query"),
    prints: .pages(
      Listing(
        name: "records",
        columns: [
          .init("NAME", "recordName", width: 40),
          .init("ZONE", width: 30) { record in
            let zone = record["zoneID"]?.text("zoneName") ?? ""
            return zone == "_defaultZone" ? "" : zone
          },
          .init("MODIFIED") { $0["modified"]?.time("timestamp") ?? "" },
          .init("FIELDS", width: 120) { record in
            record.sortedFields.map { "\($0.key)=\($0.value.fieldText)" }.joined(separator: " ")
          },
        ], emptiness: "no records were found", marker: "continuationMarker")))

  static let recordsGet = AdminCommand(
    "records get", "Shows records by their names.",
    example: "petrel records get quake-17 --container iCloud.com.example.app",
    .post("records/lookup"), operands: ["records…"],
    prints: .items("records", noun: "record", isJSONLines: true) { _, record in
      let fields = record.sortedFields
      let width = fields.map { $0.key.count }.max() ?? 0
      func stamp(_ member: String) -> String? {
        record[member].map { stamp in
          (stamp.time("timestamp") ?? "") + " by \(stamp.text("userRecordName"))"
            + (stamp["deviceID"]?.string.map { " on \($0)" } ?? "")
        }
      }
      return ["\(record.text("recordName")) in \(record["zoneID"]?.text("zoneName") ?? "")"]
        + AdminOutput.properties([
          ("type", record.text("recordType")), ("created", stamp("created")),
          ("modified", stamp("modified")), ("change tag", record.text("recordChangeTag")),
          ("parent", record["parent"]?["recordName"]?.string),
        ]) + (fields.isEmpty ? [] : ["fields:"])
        + fields.map { "  \($0.key.padding(to: width))  \($0.value.fieldText)" }
    })

  static let recordsDelete = AdminCommand(
    "records delete", "Deletes records by their names.",
    example: "petrel records delete note-17 note-18 --container iCloud.com.example.app",
    .post("records/lookup"), operands: ["records…"], .withoutServer,
    call: { access, members in
      // Without this lookup, the deletion of a mistyped name would look like a success.
      let found = try await access.answer(.post("records/lookup"), members)
      var items = found["records"]?.array ?? []
      let places = items.indices.filter { items[$0]["serverErrorCode"] == nil }
      guard !places.isEmpty else { return ["records": .array(items)] }
      let zone = members["zoneID"] ?? ["zoneName": "_defaultZone"]
      var request = members.filter { !["records", "zoneID"].contains($0.key) }
      request["operations"] = .array(
        places.map { index in
          [
            "operationType": "forceDelete",
            "record": [
              "recordName": members["records"]?.array?[index] ?? .null, "zoneID": zone,
            ],
          ]
        })
      let answer = try await access.answer(.post("records/modify"), request)
      for (index, item) in zip(places, answer["records"]?.array ?? []) { items[index] = item }
      return ["records": .array(items)]
    }, prints: .items("records", noun: "record") { name, _ in ["deleted \(name)"] })
}

extension JSONValue {
  fileprivate var sortedFields: [(key: String, value: JSONValue)] {
    (self["fields"]?.object ?? [:]).sorted { $0.key < $1.key }
  }
}
