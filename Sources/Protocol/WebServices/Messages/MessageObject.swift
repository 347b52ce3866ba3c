import Foundation
import JSONCoding

/// An object of a message that names its members once, in ``code(_:)``.
///
/// Reading, writing, and the schema in the description follow from this one method:
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
///
/// - To read an object, the decoder starts with ``blank`` and replaces the members that the message
///   has.
/// - To write an object, the encoder writes the members of a copy, in the order of the method.
/// - To describe an object, the describer collects names, types and notes from ``blank``.
package protocol MessageObject: MessagePart {
  /// The name of the schema in the description; nil describes the object at each place of its use.
  static var schemaName: String? { get }
  /// A value whose members the decoder replaces.
  static var blank: Self { get }
  /// Names each member to the coder, in the order in which they are written. A coder that writes
  /// changes no member.
  mutating func code<Coder: MessageCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure)
}

extension MessageObject {
  /// No name: the object is described at each place of its use.
  package static var schemaName: String? { nil }

  /// Reads the object: a blank value with the members of the message.
  package init(_ reader: MessageReader) throws(ServiceError) {
    self = Self.blank
    try readMembers(reader)
  }

  /// Reads the members that the message has. The others keep their values.
  mutating func readMembers(_ reader: MessageReader) throws(ServiceError) {
    var decoder = MessageDecoder(reader)
    try code(&decoder)
  }

  /// Writes the object with its braces.
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

  /// The schema of the object. A named schema inside of itself becomes a reference.
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

/// The body of a request or an answer.
package protocol Message: MessagePart, Sendable {
  /// The estimated number of bytes of the body. The writer reserves them.
  var approximateSize: Int { get }
}

extension Message {
  /// An estimate for small bodies.
  package var approximateSize: Int { 256 }

  /// Reads a body. An empty body counts as an object without members.
  ///
  /// - Parameters:
  ///   - body: The JSON text.
  ///   - context: The settings for the message. The default fits messages without zones.
  /// - Throws: `BAD_REQUEST` with the place in the body and the rule.
  package init(
    parsing body: Data, context: MessageContext = .withoutZones
  ) throws(ServiceError) {
    try self.init(MessageReader(parsing: body, context: context))
  }

  /// Returns the body as JSON text.
  package func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: approximateSize)
    write(to: &writer, context: context)
    return writer.data
  }

  /// The body of a message without zones.
  package var body: Data { body(context: .withoutZones) }
}
