internal import Synchronization

/// The pushes of a ``TestCloud``, in the order in which they were delivered.
///
/// Each loop begins with the cloud's first push and continues with later ones while they arrive.
/// Any number of loops can run at the same time. A loop ends when the cloud is stopped or the
/// loop's task is cancelled.
///
/// ```swift
/// for await push in cloud.pushes where push.device == "ipad" { … }
/// ```
///
/// The cloud keeps its latest ``TestCloud/Configuration/pushLimit`` pushes. If the next push of a
/// slow loop is no longer kept, the loop continues with the oldest kept push.
public struct TestPushes: AsyncSequence, Sendable {
  public typealias Element = TestPush
  /// The sequence never throws.
  public typealias Failure = Never

  let log: PushLog

  public func makeAsyncIterator() -> Iterator {
    Iterator(log: log)
  }

  /// The iterator of one loop, with the position of the next push.
  public struct Iterator: AsyncIteratorProtocol {
    let log: PushLog
    /// The position of the next push, counted from 0.
    private var position = 0

    init(log: PushLog) {
      self.log = log
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> TestPush? {
      guard let (push, next) = await log.push(from: position) else { return nil }
      position = next
      return push
    }

    public mutating func next() async -> TestPush? {
      await next(isolation: nil)
    }
  }
}
