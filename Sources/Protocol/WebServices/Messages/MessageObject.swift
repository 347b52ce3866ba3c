import Foundation
import JSONCoding

/// An object in a message that lists its members once, in ``code(_:)``.
///
/// The object is read, written and described (as a JSON Schema) by this one method:
///
/// ```swift
/// extension WebhookRegistration: Message, MessageObject {
///   package static let blank = WebhookRegistration(url: "")
///
///   package mutating func code<Coder: MessageCoder & ~Copyable>(
///     _ coder: inout Coder
///   ) throws(Coder.Failure) {
///     try coder.required("url", &url, .length(2_048))
///   }
/// }
/// ```
///
/// - To read an object, the decoder starts with ``blank`` and replaces the members that the message
///   has.
/// - To write an object, the encoder writes the members of a copy, in the order of the method.
/// - To describe an object, the describer collects names, types and notes from ``blank``.
package protocol MessageObject: MessagePart {
  /// The name of the object's schema in the API description (OpenAPI). With nil, each place that
  /// uses the object contains the whole schema.
  static var schemaName: String? { get }
  /// The value with which the decoder starts.
  static var blank: Self { get }
  /// Passes each member to the coder, in the order in which the members are written. Only the
  /// decoder changes the members.
  mutating func code<Coder: MessageCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure)
}

extension MessageObject {
  /// No name: each place that uses the object contains the whole schema.
  package static var schemaName: String? { nil }

  /// Reads the object: the members of the message replace those of ``blank``.
  package init(_ reader: MessageReader) throws(ServiceError) {
    self = Self.blank
    try readMembers(reader)
  }

  /// Reads the members that the message has. The other members keep their values.
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

  /// The schema of the object. Where a named schema contains itself, the inner schema is a
  /// reference to the name.
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
  /// The estimated number of bytes of the body, which the writer reserves in memory.
  var approximateSize: Int { get }
}

extension Message {
  package var approximateSize: Int { 256 }

  /// Reads a body. An empty body counts as an object without members.
  ///
  /// - Parameter context: The settings for the message. The default fits messages without zones.
  /// - Throws: `BAD_REQUEST` with the place in the body and the rule.
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

  package var body: Data { body(context: .withoutZones) }
}
