import CloudKitModel
import Foundation
import JSONCoding

/// The answer of `server/limits`: each limit by its name.
public struct LimitsResponse: Sendable, Hashable {
  public var limits: [ServiceLimit]

  public init(limits: [ServiceLimit]) {
    self.limits = limits
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 64 * limits.count)
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
    return writer.data
  }
}
