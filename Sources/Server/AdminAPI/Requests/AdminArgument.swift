import CloudKitModel
import JSONCoding
import PushChannels
import StoreModel
import WebServices

/// An argument that an endpoint of the admin API knows.
///
/// Most have the same name and meaning wherever they are: a name alone stands for what
/// ``vocabulary`` has of it.
struct AdminArgument: Sendable, ExpressibleByStringLiteral {
  enum Kind: Sendable {
    case text
    /// A text that is never written down in clear.
    case secret
    case boolean
    case integer(ClosedRange<Int>)
    case word([String])
    /// In a body only; who reads it says what is wrong.
    case value(JSONSchema)
  }

  var name: String
  var kind: Kind
  var summary: String
  var isRequired = false

  init(_ name: String, _ kind: Kind, _ summary: String) {
    self.name = name
    self.kind = kind
    self.summary = summary
  }

  init(stringLiteral name: String) {
    self = Self.vocabulary[name] ?? AdminArgument(name, .text, "")
  }

  /// The argument where an endpoint cannot do without it.
  static func needed(_ argument: AdminArgument) -> AdminArgument {
    var argument = argument
    argument.isRequired = true
    return argument
  }

  var schema: JSONSchema {
    switch kind {
    case .text: .text
    case .secret: JSONSchema(["type": "string", "format": "password"])
    case .boolean: .bool
    case .integer(let range): .integer(range)
    case .word(let words): .word(words)
    case .value(let schema): schema
    }
  }

  /// What is wrong with a value; nil for nothing.
  func fault(in value: JSONValue?) -> String? {
    guard let value, value != .null, value.string != "" else {
      return isRequired ? "is missing" : nil
    }
    if let text = value.string, !text.isStreamSafe { return ServiceError.markRule }
    switch kind {
    case .text, .secret:
      guard let text = value.string else { return "must be a string, not \(value.kind)" }
      return text.utf8.contains(0) ? ServiceError.nulRule : nil
    case .boolean:
      let isBoolean = value.bool != nil || ["true", "false"].contains(value.string)
      return isBoolean ? nil : "must be true or false"
    case .integer(let range):
      let int = value.int.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) }
      return int.map(range.contains) == true
        ? nil : "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .word(let words):
      guard let text = value.string else { return "must be a string, not \(value.kind)" }
      return words.contains(text)
        ? nil : "must be \(words.joined(separator: ", ")), not '\(text.prefix(80))'"
    case .value: return nil
    }
  }
}

extension AdminArgument {
  private static let all: [AdminArgument] = [
    .init("container", .text, "the container's identifier, which begins with 'iCloud.'"),
    .init(
      "environment", .word(ContainerEnvironment.allCases.map(\.rawValue)),
      "development unless told"),
    .init(
      "database", .word(DatabaseScope.allCases.map(\.pathComponent)), "public unless told"),
    .init("user", .text, "the name of an account, or a user record name"),
    .init("limit", .integer(1...200), "how many there are on a page; 50 unless told"),
    .init(
      "parts", .integer(DatabasePart.counts),
      "into so many parts the database is divided; 1 makes it whole"),
    .init("continuation", .text, "what the page before said, to go on from there"),
    .init("text", .text, "only what has this text in it"),
    .init("recordType", .text, "the record type"),
    .init("recordName", .text, "the record's name"),
    .init("predicate", .text, "a predicate as apps write it: count > 3"),
    .init(
      "sortBy", .value(.list(.text)), "fields, one with - before it from high to low"),
    .init("zoneName", .text, "the zone's name; all zones unless told"),
    .init("zone", .text, "the zone's name; the default zone unless told"),
    .init(
      "zoneOwner", .text, "the user record name of the zone's owner; the user's own unless told"),
    .init("zoneID", .value(ZoneID.schema(in: .requests)), "the zone of the records"),
    .init(
      "records", .value(.list(LookupRecordsRequest.elementSchema(in: .requests))),
      "the records to look up"),
    .init(
      "operations", .value(.list(.anything)), "what is to be done, in order"),
    .init(
      "tokens", .value(.list(UploadAssetsRequest.Token.schema(in: .requests))),
      "the fields whose bytes are to be uploaded"),
    .init("atomic", .boolean, "whether all of it fails when one part does"),
    .init(
      "subscriber", .text, "whose subscriptions: the name of an account, or a user record name"),
    .init("subscription", .value(Subscription.schema(in: .requests)), "the subscription"),
    .init("subscriptionID", .text, "the subscription's ID"),
    .init("everywhere", .boolean, "native clients and readers of the web courier too"),
    .init(
      "kind", .word(PushChannelRegistry.all.map { $0.kind.rawValue }), "what kind of device it is"),
    .init("token", .text, "the device's token"),
    .init("name", .text, "by which people know it again"),
    .init(
      "origins", .value(.list(.text)), "the origins of pages that may use it; any unless told"),
    .init("redirect", .text, "where sign-in leads; it posts a message unless told"),
    .init("publicKey", .text, "a P-256 key in PEM form"),
    .init("label", .text, "by which people know it again"),
    .init("identifier", .text, "the beginning of a key's identifier, or a whole API token"),
    .init("record", .value(Record.schema(in: .requests)), "the record"),
    .init(
      "event", .word(ProposedEvent.allCases.map(\.rawValue)), "what is done; create unless told"),
    .init("before", .integer(0...Int.max), "only changes with a smaller sequence number"),
    .init("syncToken", .text, "where the page before ended"),
  ]

  /// What the names mean that endpoints share.
  static let vocabulary = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
