import CloudKitModel
import Foundation
import JSONCoding

/// The error object of CloudKit Web Services: a failed request's body, or a failed item's place in
/// an answer.
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  private struct Content: Sendable, Hashable {
    var code: ServerErrorCode
    var reason: String
    var uuid: String
    var retryAfter: Double?
    var redirectURL: String?
    var serverRecord: Record?
    var limit: Int?
  }

  /// Keeps the error to one word. The frame of an `async` function has a place for each error that may pass through it,
  /// and as many frames are in memory as requests wait.
  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  public var code: ServerErrorCode {
    get { box.content.code }
    set { change { $0.code = newValue } }
  }
  /// What was wrong, naming item, field and rule.
  public var reason: String {
    get { box.content.reason }
    set { change { $0.reason = newValue } }
  }
  /// Names this error; the server's log has it too.
  public var uuid: String {
    get { box.content.uuid }
    set { change { $0.uuid = newValue } }
  }
  /// Seconds to wait before trying again; nil means: do not.
  public var retryAfter: Double? {
    get { box.content.retryAfter }
    set { change { $0.retryAfter = newValue } }
  }
  /// Where to sign in, with `AUTHENTICATION_REQUIRED`.
  public var redirectURL: String? {
    get { box.content.redirectURL }
    set { change { $0.redirectURL = newValue } }
  }
  /// The record as the server has it, with `CONFLICT` and `EXISTS`. Petrel's addition: Apple's
  /// native client gets it over its own protocol.
  public var serverRecord: Record? {
    get { box.content.serverRecord }
    set { change { $0.serverRecord = newValue } }
  }
  /// The limit that was passed, with `BAD_REQUEST`: a number of items or bytes. Petrel's addition:
  /// the protocol has no code for it, and the native client's `limitExceeded` needs one.
  public var limit: Int? {
    get { box.content.limit }
    set { change { $0.limit = newValue } }
  }

  public init(
    _ code: ServerErrorCode, _ reason: String, uuid: String = UUID().uuidString.lowercased(),
    retryAfter: Double? = nil, redirectURL: String? = nil, serverRecord: Record? = nil,
    limit: Int? = nil
  ) {
    box = Box(
      Content(
        code: code, reason: Self.cut(reason), uuid: uuid, retryAfter: retryAfter,
        redirectURL: redirectURL, serverRecord: serverRecord, limit: limit))
  }

  private mutating func change(_ body: (inout Content) -> Void) {
    var content = box.content
    body(&content)
    box = Box(content)
  }

  public static func == (left: ServiceError, right: ServiceError) -> Bool {
    left.box === right.box || left.box.content == right.box.content
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.content)
  }

  /// Reasons quote what was wrong, which may be as long as a request; they stand in answers and logs.
  private static func cut(_ reason: String) -> String {
    let limit = 4_000
    guard reason.utf8.count > limit else { return reason }
    return String(decoding: reason.utf8.prefix(limit / 2), as: UTF8.self) + "…"
  }

  /// The error as a rule of the data model states it.
  public init(_ error: ModelError) {
    self.init(.badRequest, error.reason, limit: error.limit)
  }

  public var description: String { "\(code): \(reason)" }
}

extension ServiceError {
  /// Reads an error object; nil when the object has no `serverErrorCode` and so is none.
  init?(_ reader: MessageReader) {
    let node = reader.node
    guard let code = node["serverErrorCode"]?.string else { return nil }
    // What Petrel tells beyond Apple's codes stands beside them.
    self.init(
      ServerErrorCode(rawValue: node["reasonCode"]?.string ?? code),
      node["reason"]?.string ?? "",
      uuid: node["uuid"]?.string ?? "", retryAfter: node["retryAfter"]?.double,
      redirectURL: node["redirectURL"]?.string,
      limit: node["limit"]?.int.map { Int($0) })
    // An error is good without its record.
    if let record = try? reader.member("serverRecord") {
      // An error is good without its record.
      serverRecord = try? Record(record)
    }
  }

  /// Reads the body of a failed request; nil when it is no error object.
  public init?(body: JSONValue) {
    guard
      // What is no JSON is no error of the protocol.
      let reader = try? MessageReader(
        parsing: Data(body.text.utf8), context: MessageContext(ownerNaming: .explicit))
    else { return nil }
    self.init(reader)
  }

  /// The error as the body of a failed upload. What it says stands in `singleFile` once more, where
  /// clients look for the file.
  ///
  /// CloudKit JS looks at nothing else: it takes `singleFile` for the field's value whatever the
  /// status is, and where there is none saves the record without the file, as if all were well. So
  /// the record is refused in its turn, with this reason.
  public var uploadBody: Data {
    let context = MessageContext(ownerNaming: .explicit)
    var writer = JSONWriter()
    writer.object { writer in
      writeMembers(to: &writer, context: context)
      writer.key("singleFile")
      writer.object { writeMembers(to: &$0, context: context) }
    }
    return writer.data
  }

  /// The error as the body of a failed request.
  public var body: Data {
    var writer = JSONWriter()
    writer.object { writeMembers(to: &$0, context: MessageContext(ownerNaming: .explicit)) }
    return writer.data
  }

  /// The members of an error in an answer.
  static var members: [String: JSONSchema] {
    [
      "uuid": JSONSchema.text.described("The name of the error in the server's log."),
      "serverErrorCode": .word(ServerErrorCode.documented.map(\.rawValue)),
      "reasonCode?": JSONSchema.word(ServerErrorCode.additions.map(\.rawValue)).described(
        """
        Petrel's own, where Apple's codes say too little. The server sends all but ZONE_BUSY, which \
        `TestCloud` sends when a test asks for it.
        """),
      "reason": .text,
      "retryAfter?": JSONSchema.number.with([
        "minimum": 0, "description": "Seconds after which to try again. Absent means not to.",
      ]),
      "redirectURL?": JSONSchema.text.described("Where to sign in, with AUTHENTICATION_REQUIRED."),
      "limit?": JSONSchema.integer.described("Petrel's own: the limit that the request exceeds."),
      "serverRecord?": Record.schema(in: .answers).described(
        "Petrel's own: the record as it is, with CONFLICT and EXISTS, where the caller may read it."
      ),
    ]
  }

  /// The shape of the error as the body of a failed request.
  package static var schema: JSONSchema {
    var members = members
    members["singleFile?"] = JSONSchema(["type": "object"]).described(
      "Petrel's own: the same members once more, where an upload failed or may have failed.")
    return JSONSchema.object(members).named("Error")
  }

  func writeMembers(to writer: inout JSONWriter, context: MessageContext) {
    writer.member("uuid", uuid)
    writer.member("serverErrorCode", code.documented.rawValue)
    if code != code.documented { writer.member("reasonCode", code.rawValue) }
    writer.member("reason", reason)
    if let retryAfter {
      // Without a fraction where it has none: some clients read an integer.
      if let seconds = Int64(exactly: retryAfter) {
        writer.member("retryAfter", seconds)
      } else {
        writer.member("retryAfter", retryAfter)
      }
    }
    writer.member("redirectURL", ifPresent: redirectURL)
    if let limit { writer.member("limit", limit) }
    if let serverRecord {
      writer.key("serverRecord")
      serverRecord.write(to: &writer, context: context)
    }
  }
}

extension ServiceError {
  /// The rule that names and other texts break which have the character U+0000: Apple's are of
  /// printable ASCII, and not every store can keep it.
  public static let nulRule = "must not have the character U+0000"

  /// The rule that texts break which are not in Unicode's Stream-Safe Text Format.
  public static let markRule = "must not have more than 30 combining marks in a row"
}
