internal import Synchronization

/// The pushes of a ``TestCloud``, in the order in which they were delivered.
///
/// Each loop over it begins with the cloud's first push, and goes on with those to come; any number
/// of loops can run at once. It ends when the cloud is stopped or the loop's task is cancelled.
///
/// ```swift
/// for await push in cloud.pushes where push.device == "ipad" { … }
/// ```
///
/// The cloud keeps its latest ``TestCloud/Configuration/pushLimit`` pushes. A loop that falls
/// further behind goes on with the oldest that is kept.
public struct TestPushes: AsyncSequence, Sendable {
  public typealias Element = TestPush
  public typealias Failure = Never

  let log: PushLog

  public func makeAsyncIterator() -> Iterator {
    Iterator(log: log)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let log: PushLog
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
