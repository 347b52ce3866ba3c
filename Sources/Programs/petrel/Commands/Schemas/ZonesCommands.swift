import AdminAPI
import CommandInterface
import JSONCoding

extension AdminCommand {
  static let zonesList = AdminCommand(
    "zones list", "Lists the zones of a database.",
    example:
      "petrel zones list --container iCloud.com.example.app --database private --user anna",
    .get("zones"),
    prints: .table(
      "zones", [.init("ZONE", "zoneName", width: 255), .init("OWNER", "ownerRecordName")],
      emptiness: "nothing was ever saved in this database"))

  static let zonesSave = zonesModify(
    "save", "Creates zones in a private database. Existing zones stay as they are.", "create",
    done: "saved")

  static let zonesDelete = zonesModify(
    "delete", "Deletes zones of a private database with all their records.", "delete",
    done: "deleted")

  private static func zonesModify(
    _ verb: String, _ summary: String, _ kind: String, done: String
  ) -> AdminCommand {
    AdminCommand(
      "zones \(verb)", summary,
      example: "petrel zones \(verb) Notes --container iCloud.com.example.app --database private "
        + "--user anna", .post("zones/modify"), operands: ["operations…"], .withoutServer,
      call: { access, members in
        let names = members["operations"]?.array ?? []
        let operations = names.map { name -> JSONValue in
          ["operationType": .string(kind), "zone": ["zoneID": ["zoneName": name]]]
        }
        return try await access.answer(
          .post("zones/modify"), members.merging(["operations": .array(operations)]) { $1 })
      }, prints: .items("zones", noun: "zone") { name, _ in ["\(done) \(name)"] })
  }
}
