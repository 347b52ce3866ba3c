import CloudKitModel
import JSONCoding
import PushChannels
import StoreModel
import WebServices

/// An argument of an endpoint of the admin API: its name, its kind and its description.
///
/// An endpoint lists its arguments. ``AdminArguments`` checks a request against that list and
/// returns the values. Arguments with the same name and meaning in several endpoints are declared
/// once, in the extension below.
struct AdminArgument: Sendable {
  /// The kind of an argument, which decides the permitted values and the schema in the API's
  /// description.
  enum Kind: Sendable {
    /// A text without NUL characters.
    case text
    /// A text without NUL characters that appears in no log and in no answer, such as a password.
    case secret
    /// `true` or `false`, also as text.
    case boolean
    /// A whole number in a range, also as decimal text.
    case integer(ClosedRange<Int>)
    /// One of these texts.
    case word([String])
    /// Any JSON value of this shape, in a body only. The endpoint checks the value itself.
    case value(JSONSchema)
  }

  /// The name in the query or in the body.
  var name: String
  var kind: Kind
  /// A short description for the API's description of itself.
  var summary: String
  /// Whether a request without the argument is refused with `BAD_REQUEST`.
  var isRequired = false

  /// Declares an optional argument; ``needed`` makes it required.
  init(_ name: String, _ kind: Kind, _ summary: String) {
    self.name = name
    self.kind = kind
    self.summary = summary
  }

  /// The same argument as a required one.
  var needed: AdminArgument {
    var argument = self
    argument.isRequired = true
    return argument
  }

  /// The shape of the argument's value in the API's description.
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

  /// Returns the rule that a value breaks, as the end of an error message; nil for a valid value. A
  /// missing value, `null` and an empty text are valid unless the argument is required. Any other
  /// text must be stream-safe: it must not have very many combining characters in a row.
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
      return Self.int(value).map(range.contains) == true
        ? nil : "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .word(let words):
      guard let text = value.string else { return "must be a string, not \(value.kind)" }
      return words.contains(text)
        ? nil : "must be \(words.joined(separator: ", ")), not '\(text.prefix(80))'"
    case .value: return nil
    }
  }

  /// Returns a whole number from a JSON number or a decimal text; nil for all other values.
  static func int(_ value: JSONValue) -> Int? {
    value.int.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) }
  }
}

/// The arguments that several endpoints share.
extension AdminArgument {
  static let container = AdminArgument(
    "container", .text, "the container's identifier, which begins with 'iCloud.'")
  static let environment = AdminArgument(
    "environment", .word(ContainerEnvironment.allCases.map(\.rawValue)), "development by default")
  static let database = AdminArgument(
    "database", .word(DatabaseScope.allCases.map(\.pathComponent)), "public by default")
  static let user = AdminArgument("user", .text, "the name of an account, or a user record name")
  static let limit = AdminArgument(
    "limit", .integer(1...200), "the most items on a page; 50 by default")
  static let parts = AdminArgument(
    "parts", .integer(DatabasePart.counts),
    "the number of parts; 1 makes the database whole again")
  static let continuation = AdminArgument(
    "continuation", .text, "the continuation of the page before, to get the next page")
  static let text = AdminArgument("text", .text, "only items that contain this text")
  static let recordType = AdminArgument("recordType", .text, "the record type")
  static let recordName = AdminArgument("recordName", .text, "the record's name")
  static let predicate = AdminArgument(
    "predicate", .text, "a predicate as apps write it: count > 3")
  static let sortBy = AdminArgument(
    "sortBy", .value(.list(.text)), "fields to sort by; a - before a name sorts from high to low")
  static let zoneName = AdminArgument("zoneName", .text, "the zone's name; all zones by default")
  static let zone = AdminArgument("zone", .text, "the zone's name; the default zone by default")
  static let zoneOwner = AdminArgument(
    "zoneOwner", .text, "the user record name of the zone's owner; the user's own by default")
  static let zoneID = AdminArgument(
    "zoneID", .value(ZoneID.schema(in: .requests)), "the zone of the records")
  static let records = AdminArgument(
    "records", .value(.list(LookupRecordsRequest.elementSchema(in: .requests))),
    "the records to look up")
  static let operations = AdminArgument(
    "operations", .value(.list(.anything)), "the operations, in order")
  static let tokens = AdminArgument(
    "tokens", .value(.list(UploadAssetsRequest.Token.schema(in: .requests))),
    "the fields whose bytes are to be uploaded")
  static let atomic = AdminArgument(
    "atomic", .boolean, "whether all operations fail when one of them fails")
  static let subscriber = AdminArgument(
    "subscriber", .text, "whose subscriptions: the name of an account, or a user record name")
  static let subscription = AdminArgument(
    "subscription", .value(Subscription.schema(in: .requests)), "the subscription")
  static let subscriptionID = AdminArgument("subscriptionID", .text, "the subscription's ID")
  static let everywhere = AdminArgument(
    "everywhere", .boolean, "whether native clients and web courier readers lose their tokens, too")
  static let kind = AdminArgument(
    "kind", .word(PushChannelRegistry.all.map { $0.kind.rawValue }), "the kind of the device")
  static let token = AdminArgument("token", .text, "the device's token")
  static let name = AdminArgument("name", .text, "a name for people, which lists show")
  static let origins = AdminArgument(
    "origins", .value(.list(.text)), "the origins of pages that may use it; any by default")
  static let redirect = AdminArgument(
    "redirect", .text, "the URL to which the sign-in page redirects; by default it posts a message")
  static let publicKey = AdminArgument("publicKey", .text, "a P-256 key in PEM form")
  static let label = AdminArgument("label", .text, "a name for people, which lists show")
  static let identifier = AdminArgument(
    "identifier", .text, "the beginning of a key's identifier, or a whole API token")
  static let record = AdminArgument("record", .value(Record.schema(in: .requests)), "the record")
  static let event = AdminArgument(
    "event", .word(ProposedEvent.allCases.map(\.rawValue)), "the event; create by default")
  static let before = AdminArgument(
    "before", .integer(0...Int.max), "only changes with a smaller sequence number")
  static let syncToken = AdminArgument("syncToken", .text, "the sync token of the page before")
}
