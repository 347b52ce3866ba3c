import CloudKitModel
import HTTPService
import JSONCoding
import Settings

extension ServerConfiguration {
  /// The limits that clients of this server must respect, as the operation `server/limits` returns
  /// them. Some are constants of `ServiceLimits`; the others come from the configuration.
  ///
  /// The list contains the limits that a client can respect on its own, such as the rate of
  /// requests and the quotas of its user. The list does not contain the limits that protect the
  /// server from attackers:
  ///
  /// - the request rate and the number of connections of an address,
  /// - the request rate of an API token, which all clients of an app share,
  /// - the number of waiting pushes, and the limits of memory.
  ///
  /// An honest client cannot respect these limits, because it does not know the requests of other
  /// clients. An attacker who knows the limits could send just as much as they permit.
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

  /// Returns a limit for each setting that declares the name of a client limit
  /// (``ServerConfiguration/settings``). A setting without a value sets no limit.
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
  fileprivate init(_ unit: SettingUnit) {
    switch unit {
    case .bytes: self = .bytes
    case .seconds: self = .seconds
    case .days: self = .days
    case .count: self = .count
    }
  }
}
