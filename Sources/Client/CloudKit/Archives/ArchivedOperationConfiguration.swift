/// The settings of an operation group in an archive, under the name of Apple's class.
///
/// The archive has the settings that were set. The keys are the names of the properties, because Apple
/// does not document its own.
final class ArchivedOperationConfiguration: NSObject, NSSecureCoding {
  let values: CKOperationConfiguration.Values

  init(_ values: CKOperationConfiguration.Values) { self.values = values }

  static var supportsSecureCoding: Bool { true }

  init(coder: NSCoder) {
    func decoded<Value>(_ key: String, _ decode: (String) -> Value) -> Value? {
      coder.containsValue(forKey: key) ? decode(key) : nil
    }
    values = CKOperationConfiguration.Values(
      container: coder.decodeOptional(ArchivedContainerID.self, forKey: "container")
        .map { CKContainer(identifier: $0.identifier) },
      qualityOfService: decoded("qualityOfService") { coder.decodeInteger(forKey: $0) }
        .flatMap { QualityOfService(rawValue: $0) },
      allowsCellularAccess: decoded("allowsCellularAccess") { coder.decodeBool(forKey: $0) },
      isLongLived: decoded("isLongLived") { coder.decodeBool(forKey: $0) },
      timeoutIntervalForRequest: decoded("timeoutIntervalForRequest") {
        coder.decodeDouble(forKey: $0)
      },
      timeoutIntervalForResource: decoded("timeoutIntervalForResource") {
        coder.decodeDouble(forKey: $0)
      })
  }

  func encode(with coder: NSCoder) {
    if let identifier = values.container?.containerIdentifier {
      coder.encode(ArchivedContainerID(identifier), forKey: "container")
    }
    if let quality = values.qualityOfService {
      coder.encode(quality.rawValue, forKey: "qualityOfService")
    }
    if let isAllowed = values.allowsCellularAccess {
      coder.encode(isAllowed, forKey: "allowsCellularAccess")
    }
    if let isLongLived = values.isLongLived { coder.encode(isLongLived, forKey: "isLongLived") }
    if let seconds = values.timeoutIntervalForRequest {
      coder.encode(seconds, forKey: "timeoutIntervalForRequest")
    }
    if let seconds = values.timeoutIntervalForResource {
      coder.encode(seconds, forKey: "timeoutIntervalForResource")
    }
  }
}
