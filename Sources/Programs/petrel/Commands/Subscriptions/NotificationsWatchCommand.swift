import CommandInterface
import Foundation
import JSONCoding

/// The command `petrel notifications watch`, which prints each notification about a second after a
/// server has logged it, until SIGINT or SIGTERM.
///
/// It reads the event stream `GET events` of the admin API, so it needs a running server.
struct NotificationsWatchCommand: Command {
  let name = "notifications watch"
  let example =
    "petrel notifications watch --server https://cloud.example.com "
    + "--key-file admin.key"
  let summary = "Shows a server's notifications as they are logged, until it is interrupted."
  let options: [Arguments.Option] =
    [
      .init(
        "text", "TEXT",
        "only those that have this in the name of the record, subscriber or subscription"),
      .init("count", "NUMBER", "stops after this number of notifications"), AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    guard let remote = try AdminOptions.server(arguments) else {
      throw UsageError(
        "needs a server, and none runs on this data directory: name one with --server")
    }
    let count = try arguments.int("count", in: 1...Int.max) ?? .max
    let text = arguments.string("text")?.lowercased()
    let isJSON = arguments.flag("json")
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await Self.watch(remote, text: text, count: count, isJSON: isJSON)
        }
        group.addTask { await TerminationSignal.wait() }
        try await group.next()
        group.cancelAll()
        await remote.close()
      }
    } catch {
      await remote.close()
      throw error
    }
    return 0
  }

  /// Prints the notifications of the event stream.
  ///
  /// The server ends a stream after 300 seconds, so that the client must authenticate again. The
  /// method then opens the next stream. It returns after `count` notifications.
  private static func watch(
    _ remote: RemoteAdminAccess, text: String?, count: Int, isJSON: Bool
  ) async throws {
    var left = count
    var isFirst = true
    while !Task.isCancelled {
      var events = EventStreamReader()
      let stream = remote.stream(AdminCall(method: .get, path: "events"))
      for try await piece in stream {
        if isFirst {
          Output.complain("watching; interrupt to stop")
          isFirst = false
        }
        for data in events.read(piece, named: "pushes") {
          let json = try JSONValue(parsing: data)
          for push in json["pushes"]?.array ?? [] where fits(push, text) {
            show(push, isJSON: isJSON)
            left -= 1
            if left == 0 { return }
          }
          if let leftOut = json["leftOut"]?.int, leftOut > 0 {
            Output.complain("\(leftOut) more notifications arrived than can be shown")
          }
        }
      }
    }
  }

  /// Returns whether one of the names in a notification contains the text.
  private static func fits(_ push: JSONValue, _ text: String?) -> Bool {
    guard let text else { return true }
    return ["recordName", "recordType", "subscriber", "subscriptionID", "zoneName", "container"]
      .contains { push[$0]?.string?.lowercased().contains(text) ?? false }
  }

  private static func show(_ push: JSONValue, isJSON: Bool) {
    if isJSON { return Output.json(push) }
    let record =
      push["recordName"]?.string.map { "\(push["recordType"]?.string ?? "") \($0)" }
      ?? "zone \(push["zoneName"]?.string ?? "")"
    let line =
      "\(push["changed"]?.timeText ?? "")  \(record) \(push.eventText): "
      + "\(push["subscriptionID"]?.string ?? "") of \(push["subscriber"]?.string ?? "")"
    Output.line(line.printable)
  }
}

/// A parser of event streams (HTML standard, "Server-sent events") that reads the bytes in pieces.
/// It reads the notation of Petrel's servers: lines end with a line feed, a space follows the
/// colon, and the data of an event is one line.
struct EventStreamReader {
  private var rest: [UInt8] = []
  private var event = ""
  private var data = ""

  /// Reads the next piece of the stream. Returns the data of the events with this name that are
  /// complete now.
  mutating func read(_ piece: [UInt8], named name: String) -> [String] {
    var found: [String] = []
    rest += piece
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self)
      rest.removeSubrange(...end)
      if line.isEmpty {
        if event == name, !data.isEmpty { found.append(data) }
        (event, data) = ("", "")
      } else if line.hasPrefix("event: ") {
        event = String(line.dropFirst(7))
      } else if line.hasPrefix("data: ") {
        data += line.dropFirst(6)
      }
    }
    return found
  }
}
