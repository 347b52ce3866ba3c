/// Work with a container that runs on an `OperationQueue`, or by ``start()``: the base of all
/// CloudKit operations.
///
/// An operation runs once. Its blocks are called one after another on a background queue of its
/// own: those of single items first, then the block for the result, then `completionBlock`. Set
/// them before the operation is queued. ``cancel()`` ends it with `operationCancelled` through its
/// blocks. It runs on Dispatch alone, so that it ends even while every Swift task is blocked.
open class CKOperation: Operation, @unchecked Sendable {
  public typealias ID = String
  public typealias Configuration = CKOperationConfiguration

  /// Made with the operation, unique.
  public var operationID: CKOperation.ID { settings.withLock { $0.operationID } }

  /// Called once a long-lived operation is written to disk, before it begins; see
  /// ``CKContainer/fetchLongLivedOperation(withID:completionHandler:)``.
  open var longLivedOperationWasPersistedBlock: (() -> Void)?

  /// What its blocks and its exchange with the server run on.
  let callbackQueue = DispatchQueue(label: "CKOperation")
  private let lifecycle = Locked(OperationLifecycle())
  private let settings = Locked(Settings())
  // Only used on the callback queue.
  private var exchange: ServiceExchange?
  private var began = DispatchTime.now()
  private var journal: LongLivedJournal?

  private struct Settings: Sendable {
    var operationID = UUID().uuidString
    var isResumed = false
    var configuration = CKOperationConfiguration()
    var group: CKOperationGroup?
    var container: CKContainer?
  }

  public override init() {
    super.init()
  }

  // MARK: Configuration

  /// How the operation runs. Assigning copies; assigning nil resets to the defaults.
  open var configuration: CKOperation.Configuration! {
    get { settings.withLock { $0.configuration } }
    set {
      let copy = CKOperationConfiguration(newValue?.values ?? .init())
      settings.withLock { $0.configuration = copy }
    }
  }

  /// The group whose default configuration counts where the operation's own is silent.
  open var group: CKOperationGroup? {
    get { settings.withLock { $0.group } }
    set { settings.withLock { $0.group = newValue } }
  }

  /// The same as the configuration's.
  open override var qualityOfService: QualityOfService {
    get { configuration.qualityOfService }
    set { configuration.qualityOfService = newValue }
  }

  /// The container that the operation was added to.
  func setContainer(_ container: CKContainer) {
    settings.withLock { $0.container = container }
  }

  /// Makes the operation the one that was kept under this ID.
  func resume(as operationID: CKOperation.ID) {
    settings.withLock {
      $0.operationID = operationID
      $0.isResumed = true
    }
  }

  /// The way to the server that the operation works with.
  var client: Result<WebServicesClient, CKError> {
    let settings = settings.withLock { $0 }
    return (settings.container ?? settings.configuration.container ?? .default()).client
  }

  /// What the container or database that the operation was added to sets for all its operations.
  var ambientDefaults: OperationDefaults {
    settings.withLock { $0.container }?.operationDefaults ?? OperationDefaults()
  }

  /// The operation's values, then its group's, then those of where it was added.
  var effectiveValues: CKOperationConfiguration.Values {
    configuration.values.filled(from: group?.defaultConfiguration.values)
      .filled(from: ambientDefaults.values)
  }

  /// Whether a call may be made more than once: because the operation goes on through failures, or
  /// after its process ended.
  var mayRepeatCalls: Bool {
    let values = effectiveValues
    return values.isPatient || (values.isLongLived ?? false)
  }

  // MARK: Foundation's operation

  open override var isAsynchronous: Bool { true }

  open override var isExecuting: Bool { lifecycle.withLock { $0.phase == .executing } }

  open override var isFinished: Bool { lifecycle.withLock { $0.phase == .finished } }

  /// Begins the operation and returns; does nothing when it has begun before.
  open override func start() {
    willChangeValue(for: \.isExecuting)
    let mayStart = lifecycle.withLock { $0.handle(.start) }
    didChangeValue(for: \.isExecuting)
    guard mayStart else { return }
    callbackQueue.async { if self.isCancelled { self.begin() } else { self.main() } }
  }

  /// Does the work: ``start()`` calls it on a background queue. Subclasses that override it, to
  /// prepare what the operation needs, end with `super.main()`.
  open override func main() {
    callbackQueue.async { self.begin() }
  }

  open override func cancel() {
    super.cancel()
    callbackQueue.async { self.exchange?.cancel() }
  }

  private func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    _ = lifecycle.withLock { $0.handle(.finish) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }

  // MARK: What subclasses do

  // These are called on the callback queue, in this order.

  /// The first call to make; nil when there is nothing to do.
  func firstCall() throws(CKError) -> ServiceCall? {
    throw CKError(.invalidArguments, "\(type(of: self)) does nothing by itself; use a subclass")
  }

  /// Takes the answer of a call and calls the blocks of single items.
  ///
  /// - Returns: the next call to make; nil when there is none.
  func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? { nil }

  /// Calls the blocks for the result.
  ///
  /// - Parameter error: why the operation as a whole failed.
  func conclude(_ error: CKError?) {}

  /// Forgets the operation's blocks once they have all been called, so that what they hold goes
  /// with them. Overrides call `super`.
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

  /// Keeps a long-lived operation on disk, or finds it there.
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

  /// Makes the call that `next` gives, or ends the operation.
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

  private func perform(_ call: ServiceCall) throws(CKError) {
    // By one of the blocks that the last answer led to.
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

  /// Keeps the answer of a long-lived operation before the operation takes it.
  private func noted(
    _ result: Result<ServiceExchange.Answer, CKError>, to call: ServiceCall
  ) -> Result<ServiceExchange.Answer, CKError> {
    result.map { answer in
      var answer = answer
      // The process that ended may have made the call.
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
  /// The configuration's container.
  @available(*, deprecated, message: "Use the configuration's container")
  public var container: CKContainer? {
    get { configuration.container }
    set { configuration.container = newValue }
  }

  /// The configuration's value.
  @available(*, deprecated, message: "Use the configuration's allowsCellularAccess")
  public var allowsCellularAccess: Bool {
    get { configuration.allowsCellularAccess }
    set { configuration.allowsCellularAccess = newValue }
  }

  /// The configuration's value.
  @available(*, deprecated, message: "Use the configuration's isLongLived")
  public var isLongLived: Bool {
    get { configuration.isLongLived }
    set { configuration.isLongLived = newValue }
  }

  /// The configuration's value.
  @available(*, deprecated, message: "Use the configuration's timeoutIntervalForRequest")
  public var timeoutIntervalForRequest: TimeInterval {
    get { configuration.timeoutIntervalForRequest }
    set { configuration.timeoutIntervalForRequest = newValue }
  }

  /// The configuration's value.
  @available(*, deprecated, message: "Use the configuration's timeoutIntervalForResource")
  public var timeoutIntervalForResource: TimeInterval {
    get { configuration.timeoutIntervalForResource }
    set { configuration.timeoutIntervalForResource = newValue }
  }
}
