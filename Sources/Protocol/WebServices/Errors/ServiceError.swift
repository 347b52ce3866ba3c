import CloudKitModel
import Foundation
import JSONCoding

/// The error object of CloudKit Web Services. This object is the body of a failed request, or the
/// result of a failed item.
///
/// ```
/// { "serverErrorCode": "TRY_AGAIN_LATER", "reason": "…", "uuid": "…", "retryAfter": 2 }
/// ```
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The properties of an error.
  private struct Content: Sendable, Hashable {
    var code: ServerErrorCode
    var reason: String
    var uuid: String
    var retryAfter: Double?
    var redirectURL: String?
    var serverRecord: Record?
    var limit: Int?
  }

  /// An immutable reference to the content. Because of it, an error takes only one machine word.
  ///
  /// The frame of an `async` function has space for each error that the function may pass on. The
  /// server has such frames in memory for each waiting request.
  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  /// The code of the error, which may be one of Petrel's additions.
  public var code: ServerErrorCode {
    get { box.content.code }
    set { change { $0.code = newValue } }
  }
  /// The description of the mistake, with the item, the field and the rule. The initializer
  /// shortens a text of more than 4,000 bytes to its first 2,000 bytes.
  public var reason: String {
    get { box.content.reason }
    set { change { $0.reason = newValue } }
  }
  /// The identifier of this error, which the server's log contains too.
  public var uuid: String {
    get { box.content.uuid }
    set { change { $0.uuid = newValue } }
  }
  /// The number of seconds after which the client may try again; nil means that the client must not
  /// try again.
  public var retryAfter: Double? {
    get { box.content.retryAfter }
    set { change { $0.retryAfter = newValue } }
  }
  /// The URL of the sign-in page, with `AUTHENTICATION_REQUIRED`.
  public var redirectURL: String? {
    get { box.content.redirectURL }
    set { change { $0.redirectURL = newValue } }
  }
  /// The current record of the server, with `CONFLICT` and `EXISTS`, if the caller may read it.
  /// Petrel's addition: Apple's native client receives the record over another protocol.
  public var serverRecord: Record? {
    get { box.content.serverRecord }
    set { change { $0.serverRecord = newValue } }
  }
  /// The limit that the request exceeds, as a number of items or bytes, with `BAD_REQUEST`.
  /// Petrel's addition: Apple's web protocol has no error code for an exceeded limit, but the
  /// native client has `limitExceeded`.
  public var limit: Int? {
    get { box.content.limit }
    set { change { $0.limit = newValue } }
  }

  /// Creates an error. By default it has a random identifier.
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

  /// Changes a copy of the content and puts the copy into a new box. Other copies of the error keep
  /// the old content.
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

  /// Returns the first 2,000 bytes and an ellipsis for a reason of more than 4,000 bytes. A reason
  /// may quote a refused value that is as long as the request, and answers and logs contain the
  /// reason.
  private static func cut(_ reason: String) -> String {
    let limit = 4_000
    guard reason.utf8.count > limit else { return reason }
    return String(decoding: reason.utf8.prefix(limit / 2), as: UTF8.self) + "…"
  }

  /// Creates the `BAD_REQUEST` error for a broken rule of the data model.
  public init(_ error: ModelError) {
    self.init(.badRequest, error.reason, limit: error.limit)
  }

  public var description: String { "\(code): \(reason)" }
}

extension ServiceError {
  /// Reads an error object; nil when the object has no `serverErrorCode` and so is no error.
  init?(_ reader: MessageReader) {
    let node = reader.node
    guard let code = node["serverErrorCode"]?.string else { return nil }
    // `reasonCode` has Petrel's own code, which is more precise than Apple's code.
    self.init(
      ServerErrorCode(rawValue: node["reasonCode"]?.string ?? code),
      node["reason"]?.string ?? "",
      uuid: node["uuid"]?.string ?? "", retryAfter: node["retryAfter"]?.double,
      redirectURL: node["redirectURL"]?.string,
      limit: node["limit"]?.int.map { Int($0) })
    // An error is useful without its record, so a record that cannot be read is left out.
    if let record = try? reader.member("serverRecord") {
      // An error is useful without its record, so a record that cannot be read is left out.
      serverRecord = try? Record(record)
    }
  }

  /// Reads the body of a failed request; nil when it is no error object.
  public init?(body: JSONValue) {
    guard
      // A body that cannot be parsed again is no error object.
      let reader = try? MessageReader(
        parsing: Data(body.text.utf8), context: MessageContext(ownerNaming: .explicit))
    else { return nil }
    self.init(reader)
  }

  /// The error as the body of a failed upload. The member `singleFile` repeats the error, in the
  /// place where clients look for the uploaded file.
  ///
  /// CloudKit JS reads only `singleFile` and uses this member as the field's value, also when the
  /// upload failed. Without the member, CloudKit JS would save the record without the file. With
  /// the member, the server refuses the record and repeats this reason.
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

  /// The schemas of the members of an error in an answer. A `?` after a name marks a member that
  /// may be missing.
  static var members: [String: JSONSchema] {
    [
      "uuid": JSONSchema.text.described("The ID of the error in the server's log."),
      "serverErrorCode": .word(ServerErrorCode.documented.map(\.rawValue)),
      "reasonCode?": JSONSchema.word(ServerErrorCode.additions.map(\.rawValue)).described(
        """
        Petrel's own: a more precise code than Apple's. The server never sends ZONE_BUSY; only `TestCloud` \
        sends it, if a test asks for it.
        """),
      "reason": .text,
      "retryAfter?": JSONSchema.number.with([
        "minimum": 0,
        "description": "Seconds to wait before a retry. If it is missing, do not retry.",
      ]),
      "redirectURL?": JSONSchema.text.described(
        "The URL to sign in at. Only with AUTHENTICATION_REQUIRED."),
      "limit?": JSONSchema.integer.described("Petrel's own: the limit that the request exceeds."),
      "serverRecord?": Record.schema(in: .answers).described(
        "Petrel's own: the server's record. Only with CONFLICT and EXISTS, if the caller may read it."
      ),
    ]
  }

  package static var schema: JSONSchema {
    var members = members
    members["singleFile?"] = JSONSchema(["type": "object"]).described(
      "Petrel's own: the same members again, if an upload failed or may have failed.")
    return JSONSchema.object(members).named("Error")
  }

  func writeMembers(to writer: inout JSONWriter, context: MessageContext) {
    writer.member("uuid", uuid)
    writer.member("serverErrorCode", code.documented.rawValue)
    if code != code.documented { writer.member("reasonCode", code.rawValue) }
    writer.member("reason", reason)
    if let retryAfter {
      // Some clients read an integer, so a whole number is written without a fraction.
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
  /// The rule against the character U+0000 in names, IDs and similar texts, as a part of error
  /// messages. Not every store can keep this character.
  public static let nulRule = "must not have the character U+0000"

  /// The rule against long runs of combining marks, as a part of error messages (Stream-Safe Text
  /// Format, `String.isStreamSafe`).
  public static let markRule = "must not have more than 30 combining marks in a row"
}
