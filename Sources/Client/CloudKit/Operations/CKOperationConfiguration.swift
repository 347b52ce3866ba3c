/// How an operation runs: `CKOperation.Configuration`.
///
/// A property that was set counts before the one of the operation's group, and that before the
/// default.
open class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
  struct Values: Sendable {
    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var timeoutIntervalForRequest: TimeInterval?
    var timeoutIntervalForResource: TimeInterval?

    /// These values, and those of `other` where there are none.
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

  private let stored: Locked<Values>

  public override init() {
    stored = Locked(Values())
  }

  init(_ values: Values) {
    stored = Locked(values)
  }

  var values: Values { stored.withLock { $0 } }

  open func copy(with zone: NSZone? = nil) -> Any { CKOperationConfiguration(values) }

  /// The container; nil means the default one.
  open var container: CKContainer? {
    get { values.container }
    set { stored.withLock { $0.container = newValue } }
  }

  /// How urgent the operation is; `.default` unless set. Operations of `.utility` and `.background`
  /// try again by themselves when the network fails or the server is busy.
  open var qualityOfService: QualityOfService {
    get { values.effectiveQualityOfService }
    set { stored.withLock { $0.qualityOfService = newValue } }
  }

  /// Kept for source compatibility; true unless set. There is no cellular network to avoid.
  open var allowsCellularAccess: Bool {
    get { values.allowsCellularAccess ?? true }
    set { stored.withLock { $0.allowsCellularAccess = newValue } }
  }

  /// Whether the operation is kept on disk and can go on after its process ended; false unless set.
  /// See ``CKContainer/fetchLongLivedOperation(withID:completionHandler:)``.
  open var isLongLived: Bool {
    get { values.isLongLived ?? false }
    set { stored.withLock { $0.isLongLived = newValue } }
  }

  /// Seconds to wait for a sign of the answer to one request; 60 unless set.
  open var timeoutIntervalForRequest: TimeInterval {
    get { values.effectiveRequestTimeout }
    set { stored.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// Seconds for the whole operation with all its attempts; a negative number means no limit.
  /// Unless set, a week, and no limit for `.userInteractive` and `.userInitiated`.
  open var timeoutIntervalForResource: TimeInterval {
    get { values.effectiveResourceTimeout }
    set { stored.withLock { $0.timeoutIntervalForResource = newValue } }
  }
}

extension CKOperationConfiguration.Values {
  var effectiveQualityOfService: QualityOfService { qualityOfService ?? .default }

  var effectiveRequestTimeout: TimeInterval { timeoutIntervalForRequest ?? 60 }

  var effectiveResourceTimeout: TimeInterval {
    if let timeoutIntervalForResource { return timeoutIntervalForResource }
    switch effectiveQualityOfService {
    case .userInteractive, .userInitiated: return -1
    default: return 7 * 24 * 60 * 60
    }
  }

  /// Whether the operation goes on through failures of the network and a busy server.
  var isPatient: Bool {
    switch effectiveQualityOfService {
    case .utility, .background: true
    default: false
    }
  }

  /// The limits of an exchange that goes on under this configuration since `elapsed` seconds.
  func limits(elapsed: TimeInterval) -> ServiceExchange.Limits {
    let resource = effectiveResourceTimeout
    return ServiceExchange.Limits(
      request: effectiveRequestTimeout, resource: resource < 0 ? nil : max(0, resource - elapsed),
      isPatient: isPatient)
  }
}
