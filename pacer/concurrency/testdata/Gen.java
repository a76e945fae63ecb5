// Makes netflix.txt: what the library's own limits make of 600 samples each. To run it, compile it with the library's
// limits and an org.slf4j that says nothing.
import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.*;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
public class Gen {
  static long x;
  static long next(int n) { x = x * 6364136223846793005L + 1442695040888963407L; return (x >>> 33) % n; }
  static void run(String name, int seed, Limit l) {
    x = seed;
    StringBuilder b = new StringBuilder(name).append(' ').append(seed);
    long start = 0;
    int last = -1, times = 0;
    for (int i = 0; i < 600; i++) {
      start += 100_000_000L * next(10);
      long base = (i / 150) % 2 == 0 ? 1000 : 4000;
      long rtt = 1_000_000L * (base + next(2000));
      int limit = l.getLimit();
      int inflight = (int) (1 + next(limit + limit / 4 + 1));
      boolean drop = next(25) == 0;
      l.onSample(start, rtt, inflight, drop);
      if (l.getLimit() == last) { times++; continue; }
      if (last >= 0) b.append(' ').append(last).append('x').append(times);
      last = l.getLimit(); times = 1;
    }
    b.append(' ').append(last).append('x').append(times);
    System.out.println(b);
  }
  static Limit windowed(Limit l) { return WindowedLimit.newBuilder().minWindowTime(1, TimeUnit.SECONDS).maxWindowTime(8, TimeUnit.SECONDS).windowSize(10).build(l); }
  public static void main(String[] a) {
    for (int seed = 1; seed <= 2; seed++) {
      run("aimd", seed, AIMDLimit.newBuilder().initialLimit(20).minLimit(5).maxLimit(60).timeout(5500, TimeUnit.MILLISECONDS).build());
      run("vegas", seed, VegasLimit.newBuilder().probeMultiplier(1000000).build());
      run("vegas-smooth", seed, VegasLimit.newBuilder().probeMultiplier(1000000).smoothing(0.4).maxConcurrency(60).initialLimit(10).build());
      run("gradient", seed, GradientLimit.newBuilder().probeInterval(1000000).build());
      run("gradient-tight", seed, GradientLimit.newBuilder().probeInterval(1000000).rttTolerance(1).minLimit(3).maxConcurrency(90).initialLimit(30).build());
      run("gradient2", seed, Gradient2Limit.newBuilder().minLimit(1).build());
      run("gradient2-short", seed, Gradient2Limit.newBuilder().minLimit(1).longWindow(50).rttTolerance(1).smoothing(0.5).maxConcurrency(120).build());
      run("gradient2-windowed", seed, windowed(Gradient2Limit.newBuilder().minLimit(1).rttTolerance(1).build()));
      run("vegas-windowed", seed, windowed(VegasLimit.newBuilder().probeMultiplier(1000000).build()));
    }
  }
}
