import Foundation
import JSONCoding

/// An object of a message, whose members are named once, in ``code(_:)``. Reading it, writing it and its
/// shape in the description follow:
///
/// ```swift
/// extension WebhookRegistration: Message {
///   package static let blank = WebhookRegistration(url: "")
///
///   package mutating func code<Coder: MessageCoder & ~Copyable>(
///     _ coder: inout Coder
///   ) throws(Coder.Failure) {
///     try coder.required("url", &url, "Where notifications are posted to.")
///   }
/// }
/// ```
package protocol MessageObject: MessagePart {
  /// The name of the shape in the description; nil for one that is described where it stands.
  static var schemaName: String? { get }
  /// A value for a reader to fill.
  static var blank: Self { get }
  /// Names each member to the coder, in the order in which they are written. A coder that writes changes
  /// nothing.
  mutating func code<Coder: MessageCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure)
}

extension MessageObject {
  package static var schemaName: String? { nil }

  package init(_ reader: MessageReader) throws(ServiceError) {
    self = Self.blank
    try readMembers(reader)
  }

  /// Reads the members that are there; the others stay as they are.
  mutating func readMembers(_ reader: MessageReader) throws(ServiceError) {
    var decoder = MessageDecoder(reader)
    try code(&decoder)
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.beginObject()
    writeMembers(to: &writer, context: context)
    writer.endObject()
  }

  /// Writes the members into an object that is being written.
  func writeMembers(to writer: inout JSONWriter, context: MessageContext) {
    var encoder = MessageEncoder(writer: writer, context: context)
    var value = self
    value.code(&encoder)
    writer = encoder.writer
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    func shape(_ scope: SchemaScope) -> JSONSchema {
      var describer = MessageDescriber(scope)
      var value = blank
      value.code(&describer)
      return describer.schema
    }
    guard let schemaName else { return shape(scope) }
    return scope.named(schemaName, shape)
  }
}

/// The body of a request or of an answer.
package protocol Message: MessagePart, Sendable {
  /// About how many bytes the body has.
  var approximateSize: Int { get }
}

extension Message {
  package var approximateSize: Int { 256 }

  /// Reads a body. One without bytes is an object without members.
  ///
  /// - Parameter context: may be left out for messages that name no zones.
  /// - Throws: `BAD_REQUEST` naming the place in the body and the rule.
  package init(
    parsing body: Data, context: MessageContext = .withoutZones
  ) throws(ServiceError) {
    try self.init(MessageReader(parsing: body, context: context))
  }

  package func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: approximateSize)
    write(to: &writer, context: context)
    return writer.data
  }

  /// The body of a message that names no zones.
  package var body: Data { body(context: .withoutZones) }
}
