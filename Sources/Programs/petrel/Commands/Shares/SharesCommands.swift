import AdminAPI
import CommandInterface
import JSONCoding

/// The commands for shares. The save of a share is a change that a server dispatches, so no server
/// may have a store in a file open.
extension AdminCommand {
  static let sharesList = AdminCommand(
    "shares list", "Lists shares with their owners and the numbers of their participants.",
    example: "petrel shares list --container iCloud.com.example.app --participant ben",
    .get("shares"),
    prints: .pages(
      Listing(
        name: "shares",
        columns: [
          .init("SHARE", "share"), .init("OWNER", anyOf: ["ownerName", "owner"]),
          .init("ZONE", "zone"), .init("ROOT", anyOf: ["root"], else: "the whole zone"),
          .init("PUBLIC", "publicPermission"), .init("INVITED", "invited"),
          .init("ACCEPTED", "accepted"),
        ], emptiness: "no shares were found")))

  static let sharesShow = AdminCommand(
    "shares show", "Shows a share: its participants, its link and the number of its records.",
    example:
      "petrel shares show Share-0F3A --container iCloud.com.example.app --owner anna --zone Notes",
    .get("shares/show"), operands: ["share"],
    prints: .lines { share, _ in
      let records = share["records"]?.int ?? 0
      let covers = records == 1 ? "1 record" : "\(records) records"
      func names(_ member: String) -> String? {
        let users = share[member]?.array ?? []
        let names = users.compactMap { $0["userName"]?.string ?? $0["user"]?.string }
        return names.isEmpty ? nil : names.joined(separator: ", ")
      }
      return [share.text("share")]
        + AdminOutput.properties([
          ("owner", share["ownerName"]?.string), ("user record", share["owner"]?.string),
          ("zone", share["zone"]?.string), ("root", share["root"]?.string ?? "the whole zone"),
          ("covers", share["moreRecords"]?.bool == true ? "more than \(covers)" : covers),
          ("public", share["publicPermission"]?.string), ("link", share["link"]?.string),
          ("requests", share["allowsAccessRequests"]?.bool == true ? "allowed" : "ignored"),
          ("requesters", names("requesters")), ("blocked", names("blocked")),
        ]) + ["participants:"]
        + Table.lines(
          [
            .init(
              "PARTICIPANT", anyOf: ["userName", "user", "emailAddress", "phoneNumber"],
              else: "whoever has the link"),
            .init("ROLE", "role"), .init("PERMISSION", "permission"), .init("STATE", "state"),
            .init("ADDED", time: "added"), .init("ID", "participantID"),
          ], share["participants"]?.array ?? [])
    })

  static let sharesRemove = AdminCommand(
    "shares remove", "Removes a participant from a share, or withdraws an invitation.",
    example:
      "petrel shares remove Share-0F3A ben --container iCloud.com.example.app --owner anna --zone Notes",
    .post("shares/remove"), operands: ["share", "participant"], .withoutServer,
    prints: .lines { _, arguments in
      ["removed \(arguments.positional[1]) from \(arguments.positional[0])"]
    })

  static let sharesEnd = AdminCommand(
    "shares end", "Ends a share for all participants. Its records stay with the owner.",
    example:
      "petrel shares end Share-0F3A --container iCloud.com.example.app --owner anna --zone Notes",
    .post("shares/end"), operands: ["share"], .withoutServer,
    prints: .lines { answer, _ in ["ended \(answer.text("ended"))"] })

  static let sharesNewLink = AdminCommand(
    "shares new-link",
    "Replaces the link of a share, and prints the new one. The old one is unknown.",
    example:
      "petrel shares new-link Share-0F3A --container iCloud.com.example.app --owner anna --zone Notes",
    .post("shares/new-link"), operands: ["share"], .withoutServer, prints: .member("link"))
}
