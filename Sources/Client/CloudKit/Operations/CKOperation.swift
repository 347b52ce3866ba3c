/// A piece of work with a container: the base class of all CloudKit operations.
///
/// Add an operation to a container, to a database or to an `OperationQueue`, or call ``start()``.
/// Each object runs once. `CKOperation` itself does nothing and fails with `invalidArguments`; use
/// a subclass.
///
/// The operation calls its blocks one after the other on a serial background queue of its own:
///
/// 1. the blocks of single items,
/// 2. the block for the result, then the deprecated completion block,
/// 3. Foundation's `completionBlock`.
///
/// Set the blocks before the operation is queued: they have no lock. The operation releases them
/// after the last call. ``cancel()`` ends the operation with `operationCancelled` through the block
/// for the result.
///
/// The operation uses Dispatch only and never a Swift `Task`. It therefore finishes even while all
/// threads of Swift's concurrency are blocked, for example by a semaphore.
open class CKOperation: Operation, @unchecked Sendable {
  /// The type of ``operationID``: a UUID as text.
  public typealias ID = String
  /// The type of ``configuration``.
  public typealias Configuration = CKOperationConfiguration

  /// The unique ID of the operation, made with the object. A long-lived operation keeps its ID
  /// across processes.
  public var operationID: CKOperation.ID { settings.withLock { $0.operationID } }

  /// The block that the operation calls once when a long-lived operation is written to disk, before
  /// its first request. See ``CKContainer/fetchLongLivedOperation(withID:completionHandler:)``.
  open var longLivedOperationWasPersistedBlock: (() -> Void)?

  /// The serial queue of the operation's blocks and of its exchange with the server.
  let callbackQueue = DispatchQueue(label: "CKOperation")
  /// The phase of the operation. The lock protects it, because Foundation asks from any thread.
  private let lifecycle = Locked(OperationLifecycle())
  private let settings = Locked(Settings())
  // Only used on the callback queue.
  private var exchange: ServiceExchange?
  private var began = DispatchTime.now()
  private var journal: LongLivedJournal?

  /// The values that any thread may read and set before the operation starts.
  private struct Settings: Sendable {
    var operationID = UUID().uuidString
    /// Whether the operation continues one that an earlier process began.
    var isResumed = false
    var configuration = CKOperationConfiguration()
    var group: CKOperationGroup?
    var usesBackgroundSession: Bool?
    var container: CKContainer?
  }

  /// Makes an operation that runs as the defaults say.
  public override init() {
    super.init()
  }

  // MARK: Configuration

  /// The settings of the operation. The setter copies the value; nil resets all settings.
  ///
  /// For each setting the operation uses the first value that is set: its own, then its group's,
  /// then the one of `configuredWith(configuration:group:body:)`, then the default.
  open var configuration: CKOperation.Configuration! {
    get { settings.withLock { $0.configuration } }
    set {
      let copy = CKOperationConfiguration(newValue?.values ?? .init())
      settings.withLock { $0.configuration = copy }
    }
  }

  /// The group whose ``CKOperationGroup/defaultConfiguration`` supplies the settings that the
  /// operation does not set itself. Nil unless set.
  open var group: CKOperationGroup? {
    get { settings.withLock { $0.group } }
    set { settings.withLock { $0.group = newValue } }
  }

  /// The urgency of the operation; the same value as in ``configuration``.
  open override var qualityOfService: QualityOfService {
    get { configuration.qualityOfService }
    set { configuration.qualityOfService = newValue }
  }

  func setContainer(_ container: CKContainer) {
    settings.withLock { $0.container = container }
  }

  func resume(as operationID: CKOperation.ID) {
    settings.withLock {
      $0.operationID = operationID
      $0.isResumed = true
    }
  }

  /// The client that sends the operation's requests. It belongs to the container that the operation
  /// was added to, else to the container of ``effectiveValues``, else to the default one.
  var client: Result<WebServicesClient, CKError> {
    let container = settings.withLock { $0.container }
    return (container ?? effectiveValues.container ?? .default()).client
  }

  /// The settings of `configuredWith(configuration:group:body:)` of the container or database that
  /// the operation was added to.
  var ambientDefaults: OperationDefaults {
    settings.withLock { $0.container }?.operationDefaults ?? OperationDefaults()
  }

  /// The settings that count: the operation's own, then the group's, then ``ambientDefaults``.
  var effectiveValues: CKOperationConfiguration.Values {
    configuration.values.filled(from: group?.defaultConfiguration.values)
      .filled(from: ambientDefaults.values)
  }

  /// Whether the operation may send a call more than once. That is so if it retries after failures,
  /// or if it is long-lived and can continue in another process.
  var mayRepeatCalls: Bool {
    let values = effectiveValues
    return values.isPatient || (values.isLongLived ?? false)
  }

  // MARK: Foundation's operation

  /// Whether the operation runs without a thread of its own after ``start()``; always true.
  open override var isAsynchronous: Bool { true }

  /// Whether the operation has started and not finished.
  open override var isExecuting: Bool { lifecycle.withLock { $0.phase == .executing } }

  /// Whether the operation has called all its blocks.
  open override var isFinished: Bool { lifecycle.withLock { $0.phase == .finished } }

  /// Starts the operation and returns at once. Does nothing if the operation has already started.
  ///
  /// A cancelled operation starts too: it ends with `operationCancelled` through its blocks.
  open override func start() {
    willChangeValue(for: \.isExecuting)
    let mayStart = lifecycle.withLock { $0.handle(.start) }
    didChangeValue(for: \.isExecuting)
    guard mayStart else { return }
    callbackQueue.async { if self.isCancelled { self.begin() } else { self.main() } }
  }

  /// Does the work of the operation. ``start()`` calls it on the operation's queue.
  ///
  /// A subclass can override it to prepare the operation, for example to set the records to save.
  /// The override ends with `super.main()`.
  open override func main() {
    callbackQueue.async { self.begin() }
  }

  /// Cancels the operation. It ends with `operationCancelled`, unless it has ended before.
  ///
  /// The method returns at once; the blocks follow on the operation's queue. A request that the
  /// server has received can still take effect.
  open override func cancel() {
    super.cancel()
    callbackQueue.async { self.exchange?.cancel() }
  }

  /// Ends the operation for Foundation, which then calls `completionBlock`.
  private func finish() {
    // A cancelled operation can end before the operations it depends on. Foundation's operations on
    // Linux keep unretained pointers to those that depend on them, also after their end.
    if isCancelled { for dependency in dependencies { removeDependency(dependency) } }
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    _ = lifecycle.withLock { $0.handle(.finish) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }

  // MARK: What subclasses do

  // The operation calls these methods on its callback queue, in this order.

  /// Returns the first call of the operation; nil if there is nothing to do.
  ///
  /// - Throws: The error that ends the operation, such as `invalidArguments`.
  func firstCall() throws(CKError) -> ServiceCall? {
    throw CKError(
      .invalidArguments, "\(type(of: self)) has no work of its own; use one of its subclasses")
  }

  /// Reads the answer of a call and calls the blocks of single items.
  ///
  /// - Returns: The next call of the operation; nil if there is none.
  /// - Throws: The error that ends the operation, such as `internalError` for an unreadable answer.
  func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? { nil }

  /// Calls the blocks for the result of the operation.
  ///
  /// - Parameter error: The error of the whole operation; nil if it succeeded, even if single items
  ///   failed.
  func conclude(_ error: CKError?) {}

  /// Sets the operation's blocks to nil after the last call, so that the objects they hold are
  /// released. Overrides call `super`.
  func releaseBlocks() {
    longLivedOperationWasPersistedBlock = nil
  }

  // MARK: The course of the work

  private func begin() {
    began = .now()
    do throws(CKError) {
      try openJournal()
    } catch {
      return end(error)
    }
    proceed { () throws(CKError) in try self.firstCall() }
  }

  private func openJournal() throws(CKError) {
    guard effectiveValues.isLongLived ?? false else { return }
    let settings = settings.withLock { $0 }
    if settings.isResumed {
      journal = try client.get().longLivedOperations.resume(settings.operationID)
    } else if !isCancelled, let content = LongLivedArchive.data(of: self) {
      journal = try client.get().longLivedOperations.begin(settings.operationID, content: content)
      longLivedOperationWasPersistedBlock?()
    }
  }

  /// Makes the call that `next` returns. Ends the operation if there is none or if `next` throws.
  private func proceed(with next: () throws(CKError) -> ServiceCall?) {
    let call: ServiceCall?
    do throws(CKError) {
      if isCancelled { throw CKError(.operationCancelled, "the operation was cancelled") }
      call = try next()
      if let call { try perform(call) }
    } catch {
      return end(error)
    }
    if call == nil { end(nil) }
  }

  /// Sends a call, or takes its answer from the journal.
  private func perform(_ call: ServiceCall) throws(CKError) {
    // A block that the last answer led to may have cancelled the operation.
    if isCancelled { throw CKError(.operationCancelled, "the operation was cancelled") }
    switch journal?.replay(call) {
    case .answer(let answer):
      callbackQueue.async {
        self.proceed { () throws(CKError) in try self.take(.success(answer), to: call) }
      }
      return
    case .failure(let error): throw error
    case nil: break
    }
    let elapsed = Double(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds) / 1e9
    let exchange = ServiceExchange(
      client: try client.get(), call: call,
      limits: effectiveValues.limits(elapsed: elapsed), queue: callbackQueue
    ) { result in
      self.proceed { () throws(CKError) in
        try self.take(self.noted(result, to: call), to: call)
      }
    }
    self.exchange = exchange
    exchange.start()
  }

  /// Writes the answer of a long-lived operation to its journal before the operation reads it.
  private func noted(
    _ result: Result<ServiceExchange.Answer, CKError>, to call: ServiceCall
  ) -> Result<ServiceExchange.Answer, CKError> {
    result.map { answer in
      var answer = answer
      // The process that ended may have sent the call.
      if settings.withLock({ $0.isResumed }) { answer.mayRepeatWork = true }
      journal?.keep(answer, to: call)
      return answer
    }
  }

  private func take(
    _ result: Result<ServiceExchange.Answer, CKError>, to call: ServiceCall
  ) throws(CKError) -> ServiceCall? {
    if let receiver = call.receiver { return try receiver(result) }
    return try receive(try result.get())
  }

  /// Removes the files of a long-lived operation, too.
  private func end(_ error: CKError?) {
    exchange = nil
    journal?.keepEnd(error)
    conclude(error)
    journal?.remove()
    journal = nil
    releaseBlocks()
    finish()
  }
}

extension CKOperation {
  /// The container of ``configuration``; nil means the default container.
  @available(*, deprecated, message: "Use the configuration's container")
  public var container: CKContainer? {
    get { configuration.container }
    set { configuration.container = newValue }
  }

  /// Whether the operation may use a cellular network: the value of ``configuration``, without
  /// effect on Linux.
  @available(*, deprecated, message: "Use the configuration's allowsCellularAccess")
  public var allowsCellularAccess: Bool {
    get { configuration.allowsCellularAccess }
    set { configuration.allowsCellularAccess = newValue }
  }

  /// Whether the operation is kept on disk: the value of ``configuration``.
  @available(*, deprecated, message: "Use the configuration's isLongLived")
  public var isLongLived: Bool {
    get { configuration.isLongLived }
    set { configuration.isLongLived = newValue }
  }

  /// The seconds that one request may take: the value of ``configuration``.
  @available(*, deprecated, message: "Use the configuration's timeoutIntervalForRequest")
  public var timeoutIntervalForRequest: TimeInterval {
    get { configuration.timeoutIntervalForRequest }
    set { configuration.timeoutIntervalForRequest = newValue }
  }

  /// The seconds that the whole operation may take: the value of ``configuration``.
  @available(*, deprecated, message: "Use the configuration's timeoutIntervalForResource")
  public var timeoutIntervalForResource: TimeInterval {
    get { configuration.timeoutIntervalForResource }
    set { configuration.timeoutIntervalForResource = newValue }
  }

  /// Whether the operation may run in a background session of the system; unless set, true for the
  /// quality of service `.background`. Linux has no such sessions, so the property has no effect.
  @available(*, deprecated, message: "Use the configuration's qualityOfService")
  public var usesBackgroundSession: Bool {
    get {
      settings.withLock { $0.usesBackgroundSession } ?? (qualityOfService == .background)
    }
    set { settings.withLock { $0.usesBackgroundSession = newValue } }
  }

  /// Returns the number of the system's activity of the operation: 0, because Linux has no activities.
  @available(*, deprecated, message: "Linux has no activities of the system")
  @discardableResult
  public func activityStart() -> UInt64 { 0 }
}
