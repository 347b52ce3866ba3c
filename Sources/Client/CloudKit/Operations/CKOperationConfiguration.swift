/// The settings of an operation: `CKOperation.Configuration`.
///
/// A property that was set takes precedence over the same property of the operation's group. The
/// group's property takes precedence over the default.
///
/// ```swift
/// let configuration = CKOperation.Configuration()
/// configuration.qualityOfService = .utility
/// configuration.timeoutIntervalForResource = 60 * 60
/// operation.configuration = configuration
/// ```
open class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
  /// The settings as a value; nil for a setting that was not set.
  struct Values: Sendable {
    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var timeoutIntervalForRequest: TimeInterval?
    var timeoutIntervalForResource: TimeInterval?

    func filled(from other: Values?) -> Values {
      Values(
        container: container ?? other?.container,
        qualityOfService: qualityOfService ?? other?.qualityOfService,
        allowsCellularAccess: allowsCellularAccess ?? other?.allowsCellularAccess,
        isLongLived: isLongLived ?? other?.isLongLived,
        timeoutIntervalForRequest: timeoutIntervalForRequest ?? other?.timeoutIntervalForRequest,
        timeoutIntervalForResource: timeoutIntervalForResource
          ?? other?.timeoutIntervalForResource)
    }
  }

  /// The settings. The lock protects them: any thread may read and set them.
  private let stored: Locked<Values>

  /// Makes a configuration in which nothing is set.
  public override init() {
    stored = Locked(Values())
  }

  init(_ values: Values) {
    stored = Locked(values)
  }

  var values: Values { stored.withLock { $0 } }

  /// Returns a separate configuration with the same settings.
  open func copy(with zone: NSZone? = nil) -> Any { CKOperationConfiguration(values) }

  /// The container of an operation that was added to no container and no database. Nil means the
  /// default container.
  open var container: CKContainer? {
    get { values.container }
    set { stored.withLock { $0.container = newValue } }
  }

  /// The urgency of the operation; `.default` unless set.
  ///
  /// Operations of `.utility` and `.background` retry when the network fails or the server is busy,
  /// until ``timeoutIntervalForResource`` is over. Others report the failure at once.
  open var qualityOfService: QualityOfService {
    get { values.effectiveQualityOfService }
    set { stored.withLock { $0.qualityOfService = newValue } }
  }

  /// Whether the operation may use a cellular network; true unless set. It has no effect: on Linux
  /// there is no cellular network to avoid.
  open var allowsCellularAccess: Bool {
    get { values.allowsCellularAccess ?? true }
    set { stored.withLock { $0.allowsCellularAccess = newValue } }
  }

  /// Whether the operation is kept on disk, so that another process can continue it; false unless
  /// set. See ``CKContainer/fetchLongLivedOperation(withID:completionHandler:)``.
  open var isLongLived: Bool {
    get { values.isLongLived ?? false }
    set { stored.withLock { $0.isLongLived = newValue } }
  }

  /// The number of seconds that one request may take; 60 unless set.
  open var timeoutIntervalForRequest: TimeInterval {
    get { values.effectiveRequestTimeout }
    set { stored.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// The number of seconds that the whole operation may take, with all its attempts. A negative
  /// number means no limit.
  ///
  /// Unless set, it is one week; for `.userInteractive` and `.userInitiated` there is no limit.
  /// After this time the operation fails with `networkFailure`.
  open var timeoutIntervalForResource: TimeInterval {
    get { values.effectiveResourceTimeout }
    set { stored.withLock { $0.timeoutIntervalForResource = newValue } }
  }
}

extension CKOperationConfiguration.Values {
  var effectiveQualityOfService: QualityOfService { qualityOfService ?? .default }
  var effectiveRequestTimeout: TimeInterval { timeoutIntervalForRequest ?? 60 }

  /// The seconds for all attempts; negative for no limit.
  var effectiveResourceTimeout: TimeInterval {
    if let timeoutIntervalForResource { return timeoutIntervalForResource }
    switch effectiveQualityOfService {
    case .userInteractive, .userInitiated: return -1
    default: return 7 * 24 * 60 * 60
    }
  }

  /// Whether the operation retries when the network fails or the server is busy.
  var isPatient: Bool {
    switch effectiveQualityOfService {
    case .utility, .background: true
    default: false
    }
  }

  func limits(elapsed: TimeInterval) -> ServiceExchange.Limits {
    let resource = effectiveResourceTimeout
    return ServiceExchange.Limits(
      request: effectiveRequestTimeout, resource: resource < 0 ? nil : max(0, resource - elapsed),
      isPatient: isPatient)
  }
}
