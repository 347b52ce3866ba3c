import CloudKitModel
import HTTPService
import JSONCoding
import Settings

extension ServerConfiguration {
  /// The limits that clients of this server must keep, as `server/limits` answers them. They come
  /// from ``ServiceLimits`` and from the configuration.
  ///
  /// The list contains the limits that a client can keep by itself: its own rate of requests and
  /// its own quotas. It does not contain the limits that protect the server from attackers:
  ///
  /// - the rates and connections of addresses,
  /// - the rate of an API token, which all clients of an app use up together,
  /// - the number of waiting pushes, and the limits of memory.
  ///
  /// An honest client cannot keep those limits, because it does not know what other clients do. An
  /// attacker could use them to stay just below.
  public var clientLimits: [ServiceLimit] {
    let connection = HTTPServer.Configuration()
    return ServiceLimits.all + [
      .init("requestTargetSize", connection.maximumTargetSize, .bytes),
      .init("requestHeaderSize", connection.maximumHeaderSize, .bytes),
    ] + rates + Self.limits(ConfigurationKey.all, Self.settings.shown(self))
  }

  /// The limits of the request rates of users and server-to-server keys.
  private var rates: [ServiceLimit] {
    let subjects: [(RequestRate.Subject, String)] = [
      (.user, "requestsPerUser"), (.serverKey, "requestsPerServerKey"),
    ]
    return subjects.flatMap { subject, name -> [ServiceLimit] in
      guard let rate = limits.requestRates[subject] else { return [] }
      return [
        .init(name, rate.perSecond, .requestsPerSecond), .init(name + "AtOnce", rate.burst, .count),
      ]
    }
  }

  /// Returns the limits of the settings that have a client limit's name. A setting without a value
  /// sets no limit.
  private static func limits(_ keys: [ConfigurationKey], _ inForce: JSONValue) -> [ServiceLimit] {
    keys.flatMap { key -> [ServiceLimit] in
      guard let value = inForce[key.name] else { return [] }
      switch key.kind {
      case .object(let keys): return limits(keys, value)
      case .whole(_, let unit), .number(_, let unit):
        guard let name = key.clientLimit, let number = value.double else { return [] }
        return [.init(name, number, ServiceLimit.Unit(unit))]
      default: return []
      }
    }
  }
}

extension ServiceLimit.Unit {
  /// The unit of a client limit that corresponds to a setting's unit.
  fileprivate init(_ unit: SettingUnit) {
    switch unit {
    case .bytes: self = .bytes
    case .seconds: self = .seconds
    case .days: self = .days
    case .count: self = .count
    }
  }
}
