import ScaleModel
import Testing

struct SingleQueueTests {
  @Test(
    "has as many jobs as queueing theory says",
    arguments: [SingleQueue.Service.exponential, .constant], [0.3, 0.6, 0.8])
  func theory(service: SingleQueue.Service, load: Double) {
    let queue = SingleQueue(arrivals: load * 100, serviceSeconds: 0.01, service: service, seed: 7)
    let result = queue.simulate(jobs: 300_000)
    #expect(abs(result.jobs / queue.expectedJobs - 1) < 0.06, "\(result)")
    #expect(abs(result.utilization - load) < 0.02, "\(result)")
  }

  @Test("has as many jobs as come in the time that one stays (Little's law)")
  func littlesLaw() {
    let queue = SingleQueue(arrivals: 70, serviceSeconds: 0.01, service: .exponential, seed: 3)
    let result = queue.simulate(jobs: 100_000)
    #expect(abs(result.jobs / (result.throughput * result.stay) - 1) < 0.01, "\(result)")
  }
}
