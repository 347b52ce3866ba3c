import CloudKitModel
import DatabaseAPI
import JSONCoding
import PushChannels
import Settings
import StoreModel
import WebServices

/// An argument of an endpoint of the admin API: its name, its kind and its description.
///
/// An endpoint lists its arguments. ``AdminArguments`` checks a request against that list and
/// returns the values. The commands of `petrel` make their options from the same list. Arguments
/// with the same name and meaning in several endpoints are declared once, in the extension below.
package struct AdminArgument: Sendable {
  /// The kind of an argument, which decides the permitted values and the schema in the API's
  /// description.
  package enum Kind: Sendable {
    /// A text without NUL characters.
    case text
    /// A text without NUL characters that appears in no log and in no answer, such as a password.
    case secret
    /// `true` or `false`, also as text.
    case boolean
    /// A whole number in a range, also as decimal text.
    case integer(ClosedRange<Int>)
    /// A time in whole seconds, also as decimal text.
    case seconds(ClosedRange<Int>)
    case word([String])
    /// A list of texts, in a body only.
    case texts
    /// The name of a zone, with or without its owner, in a body only. The endpoint checks the value
    /// itself.
    case zone
    /// Any JSON value of this shape, in a body only. The endpoint checks the value itself.
    case value(JSONSchema)
  }

  package var name: String
  package var kind: Kind
  /// A short description, for the API's description of itself and for the help of commands.
  package var summary: String
  /// The placeholder of the value in the help of commands.
  package var placeholder: String
  /// The name of the option of commands, without the two hyphens.
  package var option: String
  package var isRequired = false
  /// Returns the rule that a text breaks, as the end of an error message; nil for a valid text.
  private var rule: @Sendable (String) -> String?

  /// Declares an optional argument; ``needed`` makes it required.
  ///
  /// - Parameters:
  ///   - option: the name of the option; nil for the argument's name, with hyphens.
  ///   - rule: a further rule for the text, or for each text of a list.
  init(
    _ name: String, _ kind: Kind, _ summary: String, _ placeholder: String = "TEXT",
    option: String? = nil, rule: @escaping @Sendable (String) -> String? = { _ in nil }
  ) {
    self.rule = rule
    self.name = name
    self.kind = kind
    self.summary = summary
    self.placeholder = placeholder
    self.option =
      option
      ?? name.reduce(into: "") { text, letter in
        text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
      }
  }

  func described(as summary: String) -> AdminArgument {
    var argument = self
    argument.summary = summary
    return argument
  }

  package var needed: AdminArgument {
    var argument = self
    argument.isRequired = true
    return argument
  }

  var schema: JSONSchema {
    switch kind {
    case .text: .text
    case .secret: JSONSchema(["type": "string", "format": "password"])
    case .boolean: .bool
    case .integer(let range), .seconds(let range): .integer(range)
    case .word(let words): .word(words)
    case .texts: .list(.text)
    case .zone: ZoneID.schema(in: .requests)
    case .value(let schema): schema
    }
  }

  /// Returns the rule that a value breaks, as the end of an error message; nil for a valid value. A
  /// missing value, `null` and an empty text are valid unless the argument is required. Any other
  /// text must be stream-safe: it must not have very many combining characters in a row.
  package func fault(in value: JSONValue?) -> String? {
    guard let value, value != .null, value.string != "" else {
      return isRequired ? "is missing" : nil
    }
    if let text = value.string, !text.isStreamSafe { return ServiceError.markRule }
    switch kind {
    case .text, .secret:
      guard let text = value.string else { return "must be a string, not \(value.kind)" }
      return text.utf8.contains(0) ? ServiceError.nulRule : rule(text)
    case .boolean:
      let isBoolean = value.bool != nil || ["true", "false"].contains(value.string)
      return isBoolean ? nil : "must be true or false"
    case .integer(let range), .seconds(let range):
      guard Self.int(value).map(range.contains) != true else { return nil }
      return "must be a whole number from \(range.lowerBound) to \(range.upperBound), "
        + "not '\((value.string ?? value.text).prefix(80))'"
    case .word(let words):
      guard let text = value.string else { return "must be a string, not \(value.kind)" }
      let list = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
      return words.contains(text) ? nil : "must be \(list), not '\(text.prefix(80))'"
    case .texts:
      guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
        return "must be a list of strings"
      }
      return texts.lazy.compactMap { $0.flatMap(rule) }.first
    case .zone, .value: return nil
    }
  }

  /// Returns a whole number from a JSON number or a decimal text; nil for all other values.
  static func int(_ value: JSONValue) -> Int? {
    value.int.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) }
  }
}

/// The arguments that several endpoints share.
extension AdminArgument {
  package static let container = AdminArgument(
    "container", .text, "the container, such as iCloud.com.example.app", "IDENTIFIER"
  ) { text in
    text.hasPrefix("iCloud.") && !text.contains("/") && text.utf8.count <= 255
      ? nil : "must begin with 'iCloud.', as in iCloud.com.example.app, not '\(text.prefix(80))'"
  }
  package static let environment = AdminArgument(
    "environment", .word(ContainerEnvironment.allCases.map(\.rawValue)),
    "development or production (default development)", "NAME")
  static let database = AdminArgument(
    "database", .word(DatabaseScope.allCases.map(\.pathComponent)),
    "public, private or shared (default public)", "SCOPE")
  static let databaseUser = AdminArgument(
    "user", .text, "the user of a private or shared database: a name or a user record name", "USER")
  package static let place = [container.needed, environment]
  package static let ofDatabase = place + [database, databaseUser]
  package static let ofSubscriber = ofDatabase + [subscriber]

  static let user = AdminArgument(
    "user", .text, "the name of an account, or a user record name", "NAME")
  static let limit = AdminArgument(
    "limit", .integer(1...200), "the most items on a page (default 50)", "NUMBER")
  static let continuation = AdminArgument(
    "continuation", .text, "the continuation of the page before, to get the next page")
  static let recordType = AdminArgument(
    "recordType", .text, "the record type", "TYPE", option: "type")
  static let recordName = AdminArgument("recordName", .text, "the record's name", "NAME")
  static let predicate = AdminArgument(
    "predicate", .text, "as apps write it, such as 'magnitude > 5' (default all)")
  static let sortBy = AdminArgument(
    "sortBy", .texts, "fields to sort by, such as -time; a - sorts from high to low", "LIST",
    option: "sort")
  static let zoneName = AdminArgument(
    "zoneName", .text, "only in this zone (default all zones)", "NAME", option: "zone")
  static let zone = AdminArgument(
    "zone", .text, "the record's zone (default _defaultZone)", "NAME")
  static let zoneOwner = AdminArgument(
    "zoneOwner", .text, "the user record name of the zone's owner; the user's own by default",
    "USER", option: "owner")
  static let zoneID = AdminArgument(
    "zoneID", .zone, "the zone (default _defaultZone)", "NAME", option: "zone")
  static let records = AdminArgument(
    "records", .value(.list(LookupRecordsRequest.elementSchema(in: .requests))),
    "the records to look up", "NAME")
  static let operations = AdminArgument(
    "operations", .value(.list(.anything)), "the operations, in order", "NAME")
  static let tokens = AdminArgument(
    "tokens", .value(.list(UploadAssetsRequest.Token.schema(in: .requests))),
    "the fields whose bytes are to be uploaded")
  static let atomic = AdminArgument(
    "atomic", .boolean, "whether all operations fail when one of them fails")
  static let subscriber = AdminArgument(
    "subscriber", .text, "the user who has the subscriptions: a name or a user record name", "USER")
  static let subscription = AdminArgument(
    "subscription", .value(Subscription.schema(in: .requests)), "the subscription")
  static let subscriptionID = AdminArgument(
    "subscriptionID", .text, "only subscriptions with this ID", "ID", option: "subscription")
  static let everywhere = AdminArgument(
    "everywhere", .boolean,
    "also ends the sessions of native clients, and removes all devices, browsers and readers of the web courier"
  )
  static let kind = AdminArgument(
    "kind", .word(kinds), kinds.joined(separator: ", ") + " (default whichever has the token)",
    "KIND")
  private static let kinds = PushChannelRegistry.all.map { $0.kind.rawValue }
  static let token = AdminArgument("token", .text, "the device's token", "TOKEN")
  package static let parts = AdminArgument(
    "parts", .integer(DatabasePart.counts),
    "the number of parts, \(DatabasePart.counts.lowerBound) to \(DatabasePart.counts.upperBound); 1 "
      + "joins them again", "N")
  static let name = AdminArgument("name", .text, "a name for people, which lists show", "NAME")
  static let origins = AdminArgument(
    "origins", .texts, "the origins of its pages (default any)", "LIST",
    rule: refusal { text throws(ConfigurationError) in _ = try WebOrigin(parsing: text) })
  static let redirect = AdminArgument(
    "redirect", .text,
    "the URL to which the sign-in page returns (default none: the page posts a message to its opener)",
    "URL", rule: refusal { url throws(ConfigurationError) in try Registration.check(redirect: url) }
  )
  static let publicKey = AdminArgument("publicKey", .text, "a P-256 key in PEM form", "FILE")
  static let label = AdminArgument(
    "label", .text, "a label for the key, which 'petrel keys list' shows")
  static let identifier = AdminArgument(
    "identifier", .text, "the beginning of a key's identifier, or a whole API token", "IDENTIFIER")
  static let record = AdminArgument("record", .value(Record.schema(in: .requests)), "the record")
  static let event = AdminArgument(
    "event", .word(ProposedEvent.allCases.map(\.rawValue)), "the event; create by default")
  /// Returns a rule that a text breaks if the check throws an error.
  ///
  /// - Parameter beginning: the words before the error.
  static func refusal(
    _ beginning: String = "",
    _ check: @escaping @Sendable (String) throws(ConfigurationError) -> Void
  ) -> @Sendable (String) -> String? {
    { text in
      do throws(ConfigurationError) {
        try check(text)
        return nil
      } catch {
        return beginning + "\(error)"
      }
    }
  }

  static let syncToken = AdminArgument("syncToken", .text, "the sync token of the page before")
}
