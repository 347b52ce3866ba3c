import CloudKitModel
import Foundation
import JSONCoding

extension ReceivedPush {
  /// The push as one line of JSON, without the line break.
  ///
  /// ```json
  /// {"time":"2026-03-01T09:30:00.120Z","connection":1,"status":200,"method":"POST",
  ///  "path":"/3/device/0a…","deviceToken":"0a…","headers":{"apns-topic":"com.example.app",…},
  ///  "payload":{"aps":{…},"ck":{…}},"payloadText":"{\"aps\":…"}
  /// ```
  ///
  /// `status` is null if there was no answer. `reason`, `note` and `deviceToken` are missing if
  /// they are nil. `payload` is missing if the body is not JSON. `payloadText` is the whole body as
  /// text.
  public var jsonLine: String {
    var writer = JSONWriter(reserving: 2048)
    writer.object { writer in
      writer.member("time", time.iso8601)
      writer.member("connection", connection)
      writer.member("status", status.map { .int(Int64($0)) } ?? JSONValue.null)
      writer.member("reason", ifPresent: reason)
      writer.member("note", ifPresent: note)
      writer.member("method", method)
      writer.member("path", path)
      writer.member("deviceToken", ifPresent: deviceToken)
      writer.member("headers", .object(headers.mapValues { .string($0) }))
      // A payload that is not JSON is left out.
      if let json = try? JSONValue(parsing: payload) { writer.member("payload", json) }
      writer.member("payloadText", payload)
    }
    return writer.text
  }

  /// Parses a line that ``jsonLine`` wrote.
  ///
  /// - Throws: ``APNsSimulationError/Code/invalidLine`` if the line is not JSON, or if a member is
  ///   missing or has another type.
  public init(jsonLine: String) throws(APNsSimulationError) {
    let line: JSONValue
    do {
      line = try JSONValue(parsing: jsonLine)
    } catch {
      throw APNsSimulationError(.invalidLine, "the line is \(error)")
    }
    func member<Value>(
      _ name: String, _ value: (JSONValue) -> Value?
    ) throws(APNsSimulationError) -> Value {
      guard let value = line[name].flatMap(value) else {
        throw APNsSimulationError(
          .invalidLine, "'\(name)' is \(line[name]?.text ?? "missing") in the line of a push")
      }
      return value
    }
    self.init(
      time: try member("time") { $0.string.flatMap(Self.moment) },
      connection: Int(try member("connection") { $0.int }),
      method: try member("method") { $0.string }, path: try member("path") { $0.string },
      deviceToken: line["deviceToken"]?.string,
      headers: (try member("headers") { $0.object }).compactMapValues { $0.string },
      payload: try member("payloadText") { $0.string },
      status: line["status"]?.int.map { Int($0) }, reason: line["reason"]?.string,
      note: line["note"]?.string)
  }

  private static func moment(_ text: String) -> Timestamp? {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    // A text that is not a time becomes nil, which the caller reports.
    guard let time = (try? style.parse(text)).map({ Timestamp($0) }) else { return nil }
    // Only times from 1970 to 9999 have this format.
    return (0..<253_402_300_800_000).contains(time.milliseconds) ? time : nil
  }
}
