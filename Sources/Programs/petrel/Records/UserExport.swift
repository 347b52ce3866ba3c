import CommandInterface
import Foundation
import JSONCoding

/// An export of a user's data into files. Long lists are read in pages of at most 200 rows, so that
/// little memory is used. `docs/reference/command-line.md` describes the files.
struct UserExport {
  let access: any AdminAccess
  /// The user, as `GET users/show` returns it.
  let user: JSONValue
  let folder: ExportFolder
  let progress: ProgressLine
  private(set) var records = 0
  private(set) var notifications = 0

  init(
    access: any AdminAccess, user: JSONValue, folder: ExportFolder, progress: ProgressLine
  ) {
    self.access = access
    self.user = user
    self.folder = folder
    self.progress = progress
  }

  private var recordName: JSONValue { user["userRecordName"] ?? "" }

  /// Throws an ``AdminFailure`` if a call of the admin API fails or a file cannot be created.
  mutating func run() async throws {
    try await writeAccount()
    try await writeDevices()
    for container in try await access.get("containers")["containers"]?.array ?? [] {
      guard let name = container["container"]?.string else { continue }
      for environment in container["environments"]?.array ?? [] {
        guard let environment = environment.string else { continue }
        let place: [String: JSONValue] = [
          "container": .string(name), "environment": .string(environment),
        ]
        let path = ExportFolder.name(for: name) + "/" + environment
        try await writePrivateDatabase(place, to: path + "/private")
        try await writePublicDatabase(place, to: path + "/public")
        try await writeNotifications(place, to: path + "/notifications.jsonl")
      }
    }
  }

  /// Writes `account.json`, with the account and the answer of `GET users/holdings`.
  private func writeAccount() async throws {
    var members = user.object ?? [:]
    let holdings = try await access.get("users/holdings", ["user": recordName])
    members.merge(holdings.object ?? [:]) { $1 }
    try folder.write(.object(members), to: "account.json")
  }

  /// Writes `devices.jsonl`. Only the last four characters of each token are written, because a
  /// token gives access to the device.
  private func writeDevices() async throws {
    let lines = try folder.lines("devices.jsonl")
    try await eachPage("devices", of: "devices", ["user": recordName]) { device in
      var members = device.object ?? [:]
      members["token"] = members["token"]?.string.map { .string("…" + $0.suffix(4)) }
      members["userName"] = nil
      try lines.add(.object(members))
    }
    try lines.close()
  }

  /// Writes the zones, records and subscriptions of the private database. Writes nothing if the
  /// user has no private database there.
  private mutating func writePrivateDatabase(
    _ place: [String: JSONValue], to path: String
  ) async throws {
    var place = place
    place["database"] = "private"
    place["user"] = recordName
    let zones = try await access.get("zones", place)["zones"]?.array ?? []
    if zones.isEmpty { return }
    try folder.write(["zones": .array(zones)], to: path + "/zones.json")
    let lines = try folder.lines(path + "/records.jsonl")
    var export = recordExport(place, to: lines)
    for zone in zones {
      if let name = zone["zoneName"]?.string { try await export.write(zone: name) }
    }
    records += export.records
    try lines.close()
    try await writeSubscriptions(place, to: path + "/subscriptions.jsonl")
  }

  /// Writes records and subscriptions of the public database. The records are those that the user
  /// created, and those whose last change is by the user. The subscriptions are the user's own.
  private mutating func writePublicDatabase(
    _ place: [String: JSONValue], to path: String
  ) async throws {
    let lines = try folder.lines(path + "/records.jsonl")
    var export = recordExport(place, to: lines)
    try await export.writePublicRecords(of: recordName)
    records += export.records
    try lines.close()
    try await writeSubscriptions(place, to: path + "/subscriptions.jsonl")
  }

  private func recordExport(_ place: [String: JSONValue], to lines: LinesFile) -> RecordExport {
    RecordExport(
      access: access, place: place, recordType: nil, assets: .kept,
      folder: AssetFolder(directory: folder.path("assets")), output: lines.file, progress: progress)
  }

  private func writeSubscriptions(_ place: [String: JSONValue], to path: String) async throws {
    let lines = try folder.lines(path)
    var query = place
    query["subscriber"] = recordName
    try await eachPage("subscriptions", of: "subscriptions", query) { entry in
      try lines.add(entry["subscription"] ?? entry)
    }
    try lines.close()
  }

  private mutating func writeNotifications(
    _ place: [String: JSONValue], to path: String
  ) async throws {
    let lines = try folder.lines(path)
    var query = place
    query["user"] = recordName
    query["limit"] = "200"
    while true {
      let page = try await access.get("users/notifications", query)
      for notification in page["notifications"]?.array ?? [] {
        try lines.add(notification)
        notifications += 1
      }
      progress.show(notifications.counting("notification") + " ")
      guard page["moreComing"]?.bool == true else { break }
      query["syncToken"] = page["syncToken"]
    }
    try lines.close()
  }

  /// Reads a list of the admin API in pages, and calls `visit` with each element.
  ///
  /// - Parameters:
  ///   - name: The member of the answer that contains the list.
  ///   - arguments: The arguments of the call, without `limit` and `continuation`.
  private func eachPage(
    _ path: String, of name: String, _ arguments: [String: JSONValue],
    _ visit: (JSONValue) throws -> Void
  ) async throws {
    var query = arguments
    query["limit"] = "200"
    while true {
      let page = try await access.get(path, query)
      for element in page[name]?.array ?? [] { try visit(element) }
      guard let next = page["continuation"] else { return }
      query["continuation"] = next
    }
  }
}
