import CloudKitModel
import JSONCoding

/// The answer of `server/limits`, Petrel's addition: each limit of the server by its name.
///
/// ```
/// { "limits": { "recordSize": { "value": 1000000, "unit": "bytes" } } }
/// ```
public struct LimitsResponse: Sendable, Hashable {
  /// The limits, in the order of the answer.
  public var limits: [ServiceLimit]

  /// Creates an answer.
  public init(limits: [ServiceLimit]) {
    self.limits = limits
  }
}

extension LimitsResponse: Message {
  package var approximateSize: Int { 64 * limits.count }

  /// Reads the limits. The unit of each limit must be one of `ServiceLimit.Unit`.
  package init(_ reader: MessageReader) throws(ServiceError) {
    limits = []
    let members = try reader.member("limits")
    try members.node.forEachMember { (name, node) throws(ServiceError) in
      let limit = members.part(node)
      let unit: ServiceLimit.Unit = try ServiceLimit.Unit(limit.member("unit"))
      limits.append(ServiceLimit(name, try limit.member("value").double(), unit))
    }
  }

  /// Writes the limits. Whole numbers are written without a fraction.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("limits")
      writer.object { writer in
        for limit in limits {
          writer.key(limit.name)
          writer.object { writer in
            if let whole = Int64(exactly: limit.value) {
              writer.member("value", whole)
            } else {
              writer.member("value", limit.value)
            }
            writer.member("unit", limit.unit.rawValue)
          }
        }
      }
    }
  }

  /// The schema of the answer. The schema requires the limits that clients read; other limits may
  /// be missing.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let limit = JSONSchema.object([
      "value": JSONSchema.number.with(["minimum": 0]), "unit": ServiceLimit.Unit.schema(in: scope),
    ])
    return .object([
      "limits": JSONSchema.map(limit).with([
        "description":
          "Each limit by its name. Limits that are not set, or that a client cannot obey, are left out.",
        "required": ["operationsPerRequest", "recordsPerPage", "recordSize", "requestBodySize"],
      ])
    ])
  }
}

extension ServiceLimit.Unit: MessagePart {}
